// Exchanges the code in the address for a cookie; the address bar and the history forget the code.

const answered = (title, words) => {
  document.querySelector("h1").textContent = title;
  document.querySelector("#words").textContent = words;
};

async function enter() {
  const code = location.hash.slice(1);
  history.replaceState(null, "", "/");
  const response = await fetch("/enter", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }),
  }).catch(() => null);
  if (!response) return answered("The studio is gone", "Is it still running in its terminal?");
  const { home, message } = await response.json();
  if (response.ok) return location.replace(home);
  return answered("The studio stays closed", message);
}

addEventListener("hashchange", enter); // another address in the same tab
await enter();
