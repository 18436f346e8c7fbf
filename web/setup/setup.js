// The set-up: choose an agent, a model and a folder, or continue a session.

import { ask } from "../lib/api.js";
import { goTo, jobsAddress, sessionAddress } from "../lib/address.js";
import { AgentSessions } from "./agentSessions.js";
import { byId } from "../lib/dom.js";
import { inbox } from "../lib/inboxStream.js";
import { LOGGED_IN } from "./agentLogin.js";
import { Models } from "./models.js";
import { RecentSessions } from "./recentSessions.js";
import { RunningJobs } from "./runningJobs.js";
import { Runtimes } from "./runtimes.js";
import { WorkingDirectory } from "./workingDirectory.js";

export class Setup {
  workingDirectory = new WorkingDirectory();
  #models = new Models();
  #runtimes = new Runtimes();
  #recent = new RecentSessions();
  #jobs = new RunningJobs();
  #agentSessions = new AgentSessions();
  #start = byId("start-button");
  #loaded = false;
  #missed = false;

  constructor() {
    this.#runtimes.onChoose = (name) => this.#models.setRuntime(name);
    this.#start.addEventListener("click", () => this.#startSession());
    byId("refresh-button").addEventListener("click", () => this.refresh());
    byId("jobs-button").addEventListener("click", () => this.#chooseJob());
    addEventListener(LOGGED_IN, () => this.refresh());
    inbox.addEventListener("connection", () => this.#connectionChanged());
    for (const id of ["browse-button", "jobs-button", "refresh-button", "agent-sessions-button"]) byId(id).disabled = false;
  }

  /** Brings everything up to date whenever the set-up is shown. */
  async show() {
    if (this.#loaded) {
      await Promise.all([this.#recent.load(), this.#jobs.load()]);
      return;
    }
    this.#loaded = true;
    await this.#load({ refresh: false });
  }

  /** Loads what could not be loaded while the server was unreachable. */
  #connectionChanged() {
    if (inbox.isConnected && this.#missed) this.#load({ refresh: false });
    this.#missed = inbox.isConnected === false;
  }

  async refresh() {
    const button = byId("refresh-button");
    button.disabled = true;
    await this.#load({ refresh: true });
    button.disabled = false;
  }

  async #load({ refresh }) {
    const config = ask("api/config")
      .then((reply) => {
        this.workingDirectory.setDefault(reply.repoRoot ?? "");
        return reply;
      })
      .catch(() => ({}));
    const models = config.then(({ defaultModel }) => this.#models.load({ refresh, preferred: defaultModel })).then((some) => {
      this.#start.disabled = !some;
    });
    await Promise.all([models, this.#runtimes.load(), this.#recent.load(), this.#jobs.load(), this.#agentSessions.isOpen ? this.#agentSessions.load() : null]);
  }

  #chooseJob() {
    if (this.workingDirectory.path) location.href = jobsAddress(this.workingDirectory.path);
    else this.workingDirectory.explain("WorkingDirectoryNotAbsolutePath");
  }

  async #startSession() {
    this.#start.disabled = true;
    this.workingDirectory.say("");
    try {
      const model = this.#models.chosen.split("/").map(encodeURIComponent).join("/");
      const { sessionId, error } = await ask(`api/copilot/session/start/${model}`, { text: this.workingDirectory.path });
      if (sessionId) goTo(sessionAddress(sessionId));
      else if (!this.workingDirectory.explain(error)) this.#explainModel(error);
    } catch (problem) {
      this.workingDirectory.say(`Could not start the session: ${problem.message}`);
    } finally {
      this.#start.disabled = false;
    }
  }

  #explainModel(error) {
    const text = error === "ModelIdNotFound" ? "This model is no longer available. Press Refresh and choose another." : `Could not start the session: ${error}.`;
    const place = byId("model-problem");
    place.textContent = text;
    place.hidden = false;
  }
}
