// Banners above a session: lost connections, lost agents, missing logins, lost context.

import { Banners, ConnectionBanner } from "../lib/banners.js";
import { LostSession } from "./lostSession.js";

/** Notices that stay visible until they are dismissed or the page is left. */
const LASTING_NOTICES = { incomplete: "info", "login-needed": "waiting", hung: "waiting" };

export class SessionBanners {
  #banners = new Banners();
  #view;
  #connection = new ConnectionBanner(this.#banners);
  #lostSession;

  constructor(view) {
    this.#view = view;
    this.#lostSession = new LostSession(view.sessionId);
    this.#showLostSession();
  }

  clear() {
    this.#connection.show(null);
    this.#banners.clear();
  }

  /** `lost` is null when the server answers, else `{ problem, retryAt }`. */
  showConnection(lost, tryNow) {
    this.#connection.show(lost, tryNow);
  }

  /** The banner for the session's state. */
  showState({ state, stateDetail, runtime }) {
    const detail = stateDetail ? ` ${stateDetail}` : "";
    if (state === "recovering") {
      this.#put("state", { tone: "waiting", text: `The agent stopped and is being restarted.${detail}`, actions: [{ label: "Retry now", run: () => this.#view.retry() }] });
    } else if (state === "starting" && stateDetail) {
      this.#put("state", { tone: "waiting", text: `The session ${stateDetail}.`, actions: [] });
    } else if (state === "needs-login") {
      this.#put("state", {
        tone: "waiting",
        text: `The agent needs a login.${detail} Your prompt is kept.`,
        actions: [
          { label: "Log in", run: () => logIn(runtime).then((done) => done && this.#view.retry()) },
          { label: "Retry", run: () => this.#view.retry() },
        ],
      });
    } else if (state === "failed") {
      this.#put("state", { tone: "failed", text: `The agent failed.${detail}`, actions: [{ label: "Retry", run: () => this.#view.retry() }] });
    } else {
      this.#hide("state");
    }
  }

  /** What was to be shown could not be loaded: `failed` is `{ text, retry }`; null when that is over. */
  showJump(failed) {
    if (failed) this.#banners.show("jump", { tone: "failed", text: failed.text, actions: [{ label: "Retry", run: failed.retry }], onDismiss: () => {} });
    else this.#banners.hide("jump");
  }

  #shownState = null;

  /** A banner that says the same is left alone, so that it is not read out again. */
  #put(name, banner) {
    const key = `${name}:${banner.text}`;
    if (this.#shownState === key && this.#banners.has(name)) return;
    this.#shownState = key;
    this.#banners.show(name, banner);
  }

  #hide(name) {
    this.#shownState = null;
    this.#banners.hide(name);
  }

  /** A notice that has just arrived. */
  showNotice({ kind, message, detail, seq }) {
    const tone = LASTING_NOTICES[kind];
    if (kind === "fresh-session") this.showEarlierNotice({ kind, message, detail, seq });
    if (!tone) return;
    const actions = kind === "login-needed" ? [{ label: "Log in", run: () => logIn(this.#view.details?.runtime) }] : [];
    if (kind === "hung") actions.push({ label: "Interrupt", run: () => this.#view.composer.interrupt() });
    this.#banners.show(`notice-${kind}`, { tone, text: message, detail, actions, onDismiss: () => {} });
  }

  /** A notice from the log: a lost session counts until it is dismissed. */
  showEarlierNotice({ kind, message, detail, seq }) {
    if (kind === "fresh-session" && this.#lostSession.take({ seq, message, detail })) this.#showLostSession();
  }

  #showLostSession() {
    const { notice } = this.#lostSession;
    if (!notice) return;
    this.#banners.show("notice-fresh-session", { tone: "waiting", text: notice.message, detail: notice.detail, onDismiss: () => this.#lostSession.dismiss() });
  }
}

/** Few sessions ever need it, so it is loaded when one does. */
async function logIn(runtime) {
  const { openLogin } = await import("../setup/agentLogin.js");
  return openLogin(runtime);
}
