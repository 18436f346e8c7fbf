// A work that was chosen in the chart: its runs, its decisions and its sessions, as tabs.

import { make } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";
import { duration, exactTime } from "../lib/format.js";
import { jobStateElement, jobStateWord } from "../lib/jobs.js";
import { usageFacts } from "../session/notices.js";
import { AttemptTab } from "./attemptTab.js";
import { DrivingTab } from "./drivingTab.js";
import { GateTab } from "./gateTab.js";
import { wholeSeconds } from "./statusBar.js";

export class WorkView {
  workId;
  #node;
  #state = make("span", { class: "work-state" });
  #runs = make("select", { class: "work-runs", "aria-label": "Run", hidden: true });
  #facts = make("span", { class: "work-facts-line" });
  #headers = make("div", { class: "tab-headers", role: "tablist", "aria-label": "Sessions" });
  #body = make("div", { class: "tab-body" });
  #work;
  #details = null;
  /** The run that is shown; null for the last one, whichever that is. */
  #chosenRun = null;
  #shownRun = null;
  #tabs = [];
  #current = null;
  #tick;

  constructor(node, place) {
    this.workId = node.workId;
    this.#node = node;
    const head = make("div", { class: "work-head" }, make("h2", { class: "work-title" }, exactElement("bdi", {}, node.label, { oneLine: true })), this.#state, this.#runs, this.#facts);
    place.append(make("div", { class: "tab-container" }, head, this.#headers, this.#body));
    this.#runs.addEventListener("change", () => {
      const last = this.#work.attempts.length - 1;
      this.#chosenRun = Number(this.#runs.value) === last ? null : Number(this.#runs.value);
      this.#show();
    });
    this.#headers.addEventListener("keydown", (event) => this.#key(event));
    this.#tick = setInterval(() => this.#showFacts(), 1000);
  }

  /** Requests of the shown session that wait for an answer. */
  get openRequests() {
    return this.#current?.openRequests ?? [];
  }

  /** `work` is the WorkState of the chosen work, undefined before it began. */
  update(work, details) {
    this.#work = work;
    this.#details = details;
    this.#show();
  }

  /** Opens the tab of a session. Resolves when its transcript is shown. */
  async openSession(sessionId) {
    const tab = this.#tabs.find((one) => one.holds(sessionId));
    if (!tab) return;
    this.#open(tab);
    await tab.openSession(sessionId);
  }

  leave() {
    clearInterval(this.#tick);
    for (const tab of this.#tabs) tab.leave();
  }

  get #run() {
    const { attempts = [] } = this.#work ?? {};
    return attempts[this.#chosenRun ?? attempts.length - 1];
  }

  #show() {
    const { attempts = [] } = this.#work ?? {};
    this.#state.replaceChildren(this.#work ? jobStateElement(this.#run?.status ?? this.#work.status) : make("span", { class: "work-quiet", text: "Not started" }));
    this.#showRuns(attempts);
    this.#showFacts();
    const run = this.#run;
    const key = `${run && attempts.indexOf(run)} ${run?.taskId}`;
    if (key !== this.#shownRun) this.#startOver(key);
    this.#addTabs(run);
    for (const tab of this.#tabs) tab.update(run, this.#details);
  }

  #showRuns(attempts) {
    this.#runs.hidden = attempts.length < 2;
    const chosen = this.#chosenRun ?? attempts.length - 1;
    const texts = attempts.map(({ status }, index) => `Run ${index + 1} of ${attempts.length} · ${jobStateWord(status)}`);
    const options = [...this.#runs.options];
    if (texts.some((text, index) => options[index]?.textContent !== text)) this.#runs.replaceChildren(...texts.map((text, index) => make("option", { value: String(index), text })));
    this.#runs.value = String(chosen);
  }

  #showFacts() {
    const run = this.#run;
    if (!run) {
      this.#facts.textContent = "";
      return;
    }
    const took = (run.endTime ? new Date(run.endTime) : Date.now()) - new Date(run.startTime);
    this.#facts.textContent = [run.endTime ? duration(took) : wholeSeconds(took), ...usageFacts(run.usage)].join(" · ");
    this.#facts.title = `${exactTime(run.startTime)}${run.endTime ? ` – ${exactTime(run.endTime)}` : ""}`;
  }

  #startOver(key) {
    for (const tab of this.#tabs) tab.leave();
    this.#shownRun = key;
    this.#tabs = [];
    this.#current = null;
    this.#headers.replaceChildren();
    this.#body.replaceChildren();
    this.#addTab(this.#node.kind === "GateNode" ? new GateTab() : new DrivingTab());
    this.#open(this.#tabs[0]);
  }

  /** A tab for each session of the task itself, in the order in which they began. */
  #addTabs(run) {
    if (this.#node.kind === "GateNode") return;
    const sessions = (run?.sessions ?? []).filter(({ isDriving }) => !isDriving);
    for (const { sessionId } of sessions.slice(this.#tabs.length - 1)) this.#addTab(new AttemptTab(`Attempt #${this.#tabs.length}`, sessionId));
  }

  #addTab(tab) {
    const number = this.#tabs.length;
    tab.panel.id = `work-tab-${number}-panel`;
    tab.button = make("button", { type: "button", class: "tab-header-btn", id: `work-tab-${number}`, role: "tab", "aria-selected": "false", "aria-controls": tab.panel.id, tabindex: "-1", text: tab.name });
    tab.panel.setAttribute("aria-labelledby", tab.button.id);
    tab.panel.hidden = true;
    tab.button.addEventListener("click", () => this.#open(tab));
    this.#tabs.push(tab);
    this.#headers.append(tab.button);
    this.#body.append(tab.panel);
  }

  #open(tab) {
    if (this.#current === tab) return;
    for (const one of this.#tabs) {
      const isOpen = one === tab;
      one.panel.hidden = !isOpen;
      one.button.setAttribute("aria-selected", String(isOpen));
      one.button.setAttribute("tabindex", isOpen ? "0" : "-1");
      one.button.classList.toggle("active", isOpen);
    }
    this.#current?.hide();
    this.#current = tab;
    tab.show();
  }

  #key(event) {
    const at = this.#tabs.indexOf(this.#current);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.#tabs.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const tab = this.#tabs[(next + this.#tabs.length) % this.#tabs.length];
    this.#open(tab);
    tab.button.focus();
  }
}
