// The home page: a prompt with a folder, an agent and a model; below it all sessions, jobs and agents.

import { ask } from "../lib/api.js";
import { goTo, jobsAddress, sessionAddress } from "../lib/address.js";
import { announce } from "../lib/announcer.js";
import { catalogue } from "./agentCatalogue.js";
import { INSTALLED } from "./agentInstall.js";
import { AgentLine } from "./agentLine.js";
import { LOGGED_IN } from "./agentLogin.js";
import { AgentRows } from "./agentRows.js";
import { AgentSelect } from "./agentSelect.js";
import { AgentSessions } from "./agentSessions.js";
import { byId, make } from "../lib/dom.js";
import { HomeSections } from "./homeSections.js";
import { inbox } from "../lib/inboxStream.js";
import { canStart } from "./missing.js";
import { Models } from "./models.js";
import { PromptBox } from "./promptBox.js";
import { RecentSessions } from "./recentSessions.js";
import { remember, remembered } from "./remembered.js";
import { RunningJobs } from "./runningJobs.js";
import { SessionStart } from "./sessionStart.js";
import { onSettingsChanged } from "../lib/settingsNews.js";
import { StartOptions } from "./startOptions.js";
import { WorkingDirectory } from "./workingDirectory.js";

/** Of the last visit, so that the form is complete at once. */
const CONFIG = "config";

export class Setup {
  workingDirectory = new WorkingDirectory();
  #prompt = new PromptBox();
  #agents = new AgentSelect();
  #models = new Models();
  #options = new StartOptions();
  #line = new AgentLine();
  #rows = new AgentRows();
  #recent = new RecentSessions();
  #jobs = new RunningJobs();
  #agentSessions = new AgentSessions();
  #sections = new HomeSections(["running-jobs", "agents", "agent-sessions"], (id) => id === "agent-sessions" && this.#agentSessions.load());
  #sessionStart = new SessionStart();
  #start = byId("start-button");
  #isStarting = false;
  #isLoaded = false;
  #missed = false;

  constructor() {
    this.#prompt.onStart = () => this.#start.disabled || this.#startSession();
    this.#agents.onChoose = () => this.#useAgent();
    this.#options.onChange = () => this.#useRuntime();
    this.#line.onCheck = () => this.refresh();
    this.#line.onShowAgents = () => this.#rows.reveal();
    this.#rows.onCheck = () => this.refresh();
    catalogue.addEventListener("change", () => this.#useAgent());
    this.#start.addEventListener("click", () => this.#startSession());
    byId("refresh-button").addEventListener("click", () => this.refresh());
    byId("jobs-button").addEventListener("click", () => this.#chooseJob());
    for (const kind of [LOGGED_IN, INSTALLED]) addEventListener(kind, () => this.refresh());
    inbox.addEventListener("connection", () => this.#connectionChanged());
    onSettingsChanged(() => Promise.all([this.#loadConfig(), catalogue.load()]));
    for (const id of ["browse-button", "jobs-button", "refresh-button", "more-options-button"]) byId(id).disabled = false;
    this.#useConfig(remembered(CONFIG, {}));
  }

  /** Brings everything up to date whenever the home page is shown. */
  async show() {
    if (this.#isLoaded) {
      await Promise.all([this.#recent.load(), this.#jobs.load()]);
      return;
    }
    this.#isLoaded = true;
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
    const lists = Promise.all([this.#recent.load(), this.#jobs.load()]).then(() => this.#sections.reveal());
    await Promise.all([this.#loadConfig(), catalogue.load({ refresh }), lists, byId("agent-sessions").open ? this.#agentSessions.load() : null]);
  }

  async #loadConfig() {
    try {
      const config = await ask("api/config");
      remember(CONFIG, config);
      this.#useConfig(config);
    } catch {
      // What the last visit knew is good enough; a folder can always be entered.
    }
  }

  #useConfig({ repoRoot, defaultModel }) {
    if (repoRoot) this.workingDirectory.setDefault(repoRoot);
    this.#agents.configuredModel = defaultModel;
    this.#useAgent();
  }

  #useAgent() {
    this.#agents.show();
    this.#options.setAgent(this.#agents.agent);
    this.#useRuntime();
  }

  #useRuntime() {
    const { runtime } = this.#options;
    this.#models.setRuntime(runtime?.name ?? "", { takesAny: this.#options.takesAnyModel });
    this.#line.show(runtime);
    this.#showWhetherItCanStart();
  }

  #showWhetherItCanStart() {
    this.#start.textContent = this.#isStarting ? "Starting …" : "Start";
    this.#start.disabled = this.#isStarting || !catalogue.hasModels || !canStart(this.#options.runtime);
  }

  #chooseJob() {
    if (this.workingDirectory.path) location.href = jobsAddress(this.workingDirectory.path);
    else this.workingDirectory.explain("WorkingDirectoryNotAbsolutePath");
  }

  async #startSession() {
    this.workingDirectory.say("");
    this.#models.say("");
    this.#options.say("");
    this.#say("");
    if (this.workingDirectory.isRelative) {
      this.workingDirectory.explain("WorkingDirectoryNotAbsolutePath");
      return;
    }
    const wrong = this.#options.problem;
    if (wrong) {
      this.#options.say(wrong.text);
      wrong.focus();
      return;
    }
    this.#isStarting = true;
    this.#showWhetherItCanStart();
    try {
      const body = { runtime: this.#options.runtime.name, model: this.#models.chosen || undefined, workingDirectory: this.workingDirectory.path, ...this.#options.body };
      const { text } = this.#prompt;
      const sessionId = await this.#sessionStart.start(body, text);
      this.#prompt.removeSent(text);
      // Whoever has gone elsewhere meanwhile stays there: the next key that they press is meant for that page.
      if (isShown()) goTo(sessionAddress(sessionId));
      else announce("The new session was started. It is in the sidebar.");
    } catch (problem) {
      this.#explain(problem);
      if (!isShown()) announce(problem.startedSession ? `The new session was started, but its prompt was not sent: ${problem.message}` : `Could not start the session: ${problem.message}`);
    } finally {
      this.#isStarting = false;
      this.#showWhetherItCanStart();
    }
  }

  /** Each problem is said where it can be solved. */
  #explain(problem) {
    const { code, message, startedSession } = problem;
    if (startedSession) this.#explainPrompt(message, startedSession);
    else if (this.workingDirectory.explain(code)) return;
    else if (code === "ModelIdNotFound") {
      this.#models.say(this.#models.isTyped ? message : "This model is no longer available. Press Refresh and choose another.");
      this.#models.focus();
    } else if (code === "RuntimeNotFound") {
      this.#say("This agent is no longer available. Choose another one.");
      catalogue.load();
    } else if (code === "InvalidOptions") this.#options.say(message);
    else this.#say(`Could not start the session: ${message}`);
  }

  /** The session is there, but not its prompt: the text stays in the box, and Start sends it again. */
  #explainPrompt(message, sessionId) {
    const open = make("a", { href: sessionAddress(sessionId), data: { local: "" }, text: "Open the session", on: { click: () => this.#sessionStart.forget() } });
    this.#say(`The session was started, but the prompt was not sent: ${message} `, open);
  }

  #say(...content) {
    const place = byId("start-problem");
    place.replaceChildren(...content);
    place.hidden = content.join("") === "";
  }
}

/** Whether the home page is what the person sees. */
function isShown() {
  return !byId("setup-ui").hidden;
}
