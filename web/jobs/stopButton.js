// The button that stops the server, on a page without a session.

import { byId, setText } from "../lib/dom.js";
import { confirmStop, stopServer } from "../lib/stopServer.js";

export function useStopButton() {
  const button = byId("stop-server-button");
  button.disabled = false;
  button.addEventListener("click", async () => {
    setText(byId("matrix-problem"), "");
    if (!(await confirmStop())) return;
    button.disabled = true;
    try {
      await stopServer();
    } catch (problem) {
      setText(byId("matrix-problem"), `Could not stop the server: ${problem.message}`);
      button.disabled = false;
    }
  });
}
