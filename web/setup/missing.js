// What is missing before a runtime can be used, in one sentence, with the one thing to do about it.

import { openInstall } from "./agentInstall.js";
import { openLogin } from "./agentLogin.js";

/** `{ text, action, run }` for a runtime that is not ready. Without `run`, asking again is all that can be done. */
export function missingFor({ name, title, ready, install, program, login, hint }) {
  if (ready) return null;
  if (install && !program) return { text: `${title} is not installed.`, action: "Install", run: () => openInstall(name, title) };
  if (login?.state === "logged-out" && login.canLogIn) return { text: `${title} is not logged in.`, action: "Log in", run: () => openLogin(name, title) };
  return { text: hint ? sentence(hint) : `${title} is not ready.`, action: "Check again", run: null };
}

function sentence(text) {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Whether a session can be started. One that only needs a login says so itself and keeps its prompt. */
export function canStart(runtime) {
  return Boolean(runtime) && (runtime.ready || runtime.login?.state === "logged-out");
}
