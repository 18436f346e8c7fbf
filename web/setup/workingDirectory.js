// The folder that a session is to work in.

import { projectInAddress } from "../lib/address.js";
import { byId, make, setText } from "../lib/dom.js";
import { openFolderPicker } from "./folderPicker.js";
import { sessionList } from "../lib/sessionList.js";
import { workingSentence } from "../lib/folderSessions.js";

const PROBLEMS = {
  WorkingDirectoryNotAbsolutePath: "Not an absolute path. Enter the full path, starting at the root.",
  WorkingDirectoryNotExists: "This folder does not exist on the server's machine.",
  WorkingDirectoryNotReadable: "The server is not allowed to read this folder.",
  WorkingDirectoryNotAllowed: "Sessions are not allowed in this folder. The setting sessions.roots lists the allowed folders.",
};

const input = byId("working-dir");
const warning = byId("working-dir-warning");

export class WorkingDirectory {
  #default = "";

  constructor() {
    input.addEventListener("input", () => {
      this.say("");
      this.warn();
    });
    byId("browse-button").addEventListener("click", () => this.browse());
    sessionList.addEventListener("change", () => this.warn());
  }

  get path() {
    return input.value.trim();
  }

  set path(path) {
    input.value = path;
    this.say("");
    this.warn();
  }

  /** The folder in the address, or else the repository. */
  setDefault(repositoryRoot) {
    if (input.value && input.value !== this.#default) return;
    const project = projectInAddress();
    this.#default = project ? beside(repositoryRoot, project) : repositoryRoot;
    this.path = this.#default;
  }

  /** Whether it can only be wrong; a session without a folder is possible. */
  get isRelative() {
    return this.path !== "" && !/^(\/|\\\\|[a-z]:[\\/])/i.test(this.path);
  }

  async browse() {
    const chosen = await openFolderPicker(this.path);
    if (chosen !== null) this.path = chosen;
    input.focus();
  }

  say(text) {
    setText(byId("working-dir-problem"), text);
    input.setAttribute("aria-invalid", String(Boolean(text)));
  }

  /** Shows why a session cannot work there. Returns whether the error was about the folder. */
  explain(error) {
    if (!(error in PROBLEMS)) return false;
    this.say(PROBLEMS[error]);
    input.focus();
    return true;
  }

  /** Warns that two sessions in one folder may conflict. */
  warn() {
    const here = sessionList.workingIn(this.path);
    const sentence = make("span", {}, ...(here.length > 0 ? workingSentence(here, (_, name) => make("span", name)) : []));
    warning.hidden = here.length === 0;
    // What says the same is not read out again.
    if (warning.textContent !== sentence.textContent) warning.replaceChildren(sentence);
  }
}

function beside(root, name) {
  const separator = root.includes("\\") && !root.includes("/") ? "\\" : "/";
  const parts = root.split(separator);
  parts.pop();
  return [...parts, name].join(separator) || separator + name;
}
