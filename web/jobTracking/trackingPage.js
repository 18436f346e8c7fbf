// A job that runs or has ended.

import { ask, askHtml } from "../lib/api.js";
import { announce } from "../lib/announcer.js";
import { Banners, ConnectionBanner } from "../lib/banners.js";
import { byId, make } from "../lib/dom.js";
import { exactElement, exactString } from "../lib/exactText.js";
import { inbox } from "../lib/inboxStream.js";
import { gatePromptPath, jobPath, jobStateWord } from "../lib/jobs.js";
import { showFinished } from "../session/finished.js";
import { ChartView } from "./chartView.js";
import { JobFollower } from "./jobFollower.js";
import { StatusBar } from "./statusBar.js";
import { WaitingCards } from "./waitingCards.js";
import { WorkView } from "./workView.js";

export class TrackingPage {
  view;
  #jobId;
  #jobName;
  #follower;
  #status;
  #waiting;
  #work = null;
  #banners = new Banners();
  #connection = new ConnectionBanner(this.#banners);
  #details = null;

  constructor(jobId, jobName) {
    this.#jobId = jobId;
    this.#jobName = jobName;
    this.view = new ChartView(jobName, null);
    this.view.showWork = (node, place) => this.#showWork(node, place);
    this.view.leaveWork = () => {
      this.#work?.leave();
      this.#work = null;
    };
    this.#follower = new JobFollower(jobId);
    this.#follower.onDetails = (details) => this.#show(details);
    this.#follower.onConnection = (lost) => this.#connection.show(lost, () => this.#follower.now());
    this.#follower.onMissing = () => this.#missing();
    this.#status = new StatusBar(jobId);
    this.#status.onAction = async () => {
      await this.#follower.refresh();
      this.#follower.follow();
    };
    this.#status.onWaiting = () => {
      if (this.#waiting.cards.length === 0) return this.goToRequest();
      this.view.showDetails();
      return this.#waiting.cards[0].divElement.focus();
    };
    this.#waiting = new WaitingCards(byId("waiting-part"));
    this.#waiting.answer = (action, json) => ask(jobPath(jobId, action), { json });
    this.#waiting.loadPrompt = (gateId) => askHtml(gatePromptPath(jobId, gateId));
    this.#waiting.onAnswered = () => this.#follower.refresh();
    // A session that works for the job may ask something, too.
    inbox.addEventListener("change", () => this.#details && this.#showWorks());
    this.#waiting.onClosed = (problem) => this.#banners.show("gate-closed", { tone: "waiting", text: exactString(problem.message), onDismiss: () => {} });
  }

  open() {
    return this.#follower.follow();
  }

  /** Goes to what waits for an answer: first the job's own questions, then those of sessions. */
  async goToRequest() {
    const asking = this.#asking();
    const isShown = asking.some(({ workId }) => workId === this.#work?.workId);
    if (this.#waiting.cards.length === 0 && asking.length > 0 && !isShown) this.view.select(asking[0].workId);
    const session = asking.find(({ workId }) => workId === this.#work?.workId);
    if (session && !this.#work.openRequests.length) await this.#work.openSession(session.sessionId);
    const open = [...this.#waiting.cards, ...(this.#work?.openRequests ?? [])];
    if (open.length === 0) return;
    this.view.showDetails();
    const at = open.findIndex(({ divElement }) => divElement.contains(document.activeElement));
    const next = open[(at + 1) % open.length];
    next.divElement.scrollIntoView({ block: "nearest" });
    next.takeKeys();
  }

  #show(details) {
    const before = this.#details?.status;
    this.#details = details;
    this.view.setFolder(details.workingDirectory);
    this.#showWorks();
    this.view.draw({ requireUserInput: details.requireUserInput, work: details.work }, details.chart, details.jobName ?? this.#jobName);
    this.#waiting.show(details.waiting, { folder: details.workingDirectory });
    this.#work?.update(details.works.find(({ workId }) => workId === this.#work.workId), details);
    this.#showError(details.error);
    if (before && before !== details.status) announce(`Job ${jobStateWord(details.status).toLowerCase()}`);
  }

  /** Sessions of works under way that wait for an answer, as the inbox knows them: `{ workId, sessionId }`. */
  #asking() {
    const sessions = (this.#details?.works ?? []).filter(({ status }) => status === "Running").flatMap(({ workId, attempts }) => (attempts.at(-1)?.sessions ?? []).map(({ sessionId }) => ({ workId, sessionId })));
    return sessions.filter(({ sessionId }) => (inbox.entries.get(sessionId)?.pending.length ?? 0) > 0);
  }

  #showWorks() {
    const asking = this.#asking();
    const waits = new Set(asking.map(({ workId }) => workId));
    this.view.setWorks(new Map(this.#details.works.map((work) => [work.workId, waits.has(work.workId) ? { ...work, status: "Waiting" } : work])));
    this.#status.show(this.#details, this.#details.waiting.length + waits.size);
  }

  #showError(error) {
    if (!error) this.#banners.hide("job-error");
    else if (!this.#banners.has("job-error")) this.#banners.show("job-error", { tone: "failed", text: make("span", {}, make("b", { text: "The job failed. " }), exactElement("span", {}, error)) });
  }

  #showWork(node, place) {
    this.#work = new WorkView(node, place);
    this.#work.update(this.#details.works.find(({ workId }) => workId === node.workId), this.#details);
    const session = this.#asking().find(({ workId }) => workId === node.workId);
    if (session) this.#work.openSession(session.sessionId);
  }

  #missing() {
    showFinished({ title: `${exactString(this.#jobId)} not found`, text: "It was deleted or never existed.", action: make("a", { class: "button", href: "/index.html", text: "All sessions" }) });
  }
}
