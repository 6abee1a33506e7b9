// Questions to the studio's own server; an answer, or an error in words.

async function answer(request) {
  let response;
  try {
    response = await request;
  } catch {
    throw new Error("The studio does not answer. Is it still running in its terminal?");
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.message ?? "The studio refused this page. Open its address again.");
  return body;
}

export const ask = (question, body = {}) =>
  answer(fetch(`api/${question}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  }));

export const send = (place, file) =>
  answer(fetch(`api/${place}?name=${encodeURIComponent(file.name)}`, { method: "PUT", body: file }));

export const paper = (key, name) => `papers/${key}/${encodeURIComponent(name)}`;
