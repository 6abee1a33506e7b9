// How a fit stands, in a few words.

const WORDS = {
  running: "is running",
  stopping: "is being stopped",
  done: "is done",
  stopped: "was stopped",
  failed: "failed",
};

export const outcome = ({ status }) => WORDS[status];
export const isRunning = ({ status }) => status === "running" || status === "stopping";
