// Banners above a session: lost connections, lost agents, missing logins, lost context, shared folders.

import { sessionAddress } from "../lib/address.js";
import { loginAddress } from "../lib/api.js";
import { byId, make, prose } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { icon } from "../lib/icons.js";
import { LostSession } from "./lostSession.js";
import { detailsOf } from "./notices.js";

/** Notices that stay visible until they are dismissed or the page is left. */
const LASTING_NOTICES = { incomplete: "info", "login-needed": "waiting", hung: "waiting" };

export class SessionBanners {
  #banners = new Banners();
  #view;
  #countdown = null;
  #lostSession;

  constructor(view) {
    this.#view = view;
    this.#lostSession = new LostSession(view.sessionId);
    this.#showLostSession();
  }

  clear() {
    clearInterval(this.#countdown);
    this.#banners.clear();
  }

  /** `lost` is null when the server answers, else `{ problem, retryAt }`. */
  showConnection(lost, tryNow) {
    clearInterval(this.#countdown);
    if (!lost) {
      this.#banners.hide("connection");
      return;
    }
    const { problem, retryAt } = lost;
    if (problem.isLoggedOut) {
      this.#banners.show("connection", {
        tone: "failed",
        text: "You are no longer logged in. Log in again, or run `flightdeck open` in a terminal.",
        actions: [{ label: "Log in", href: loginAddress() }],
      });
      return;
    }
    const text = () => {
      const seconds = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
      return `${problem.message} ${seconds > 0 ? `Retrying in ${seconds} s.` : "Retrying …"} Nothing is lost: the page catches up when the connection is back.`;
    };
    if (this.#banners.has("connection")) this.#banners.setText("connection", text());
    else this.#banners.show("connection", { tone: "failed", text: text(), actions: [{ label: "Retry now", run: () => this.#tryNow() }] });
    this.#tryNow = tryNow;
    this.#countdown = setInterval(() => this.#banners.setText("connection", text()), 500);
  }

  #tryNow = () => {};

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

  /** Other open sessions in the same folder. */
  showSharedFolder(sessions) {
    if (sessions.length === 0) {
      this.#banners.hide("shared-folder");
      return;
    }
    const links = sessions.map(({ sessionId, title }, index) => [index > 0 ? ", " : "", make("a", { href: sessionAddress(sessionId), data: { local: "" }, text: exactString(title || sessionId) })]).flat();
    const text = make("span", {}, sessions.length === 1 ? "Another open session works in this folder and may change the same files: " : "Other open sessions work in this folder and may change the same files: ", ...links);
    this.#banners.show("shared-folder", { tone: "info", text, onDismiss: () => this.#banners.keepAway("shared-folder") });
  }
}

/** Banners by name, each visible until its reason ends or it is dismissed. */
class Banners {
  #container = byId("banners");
  #shown = new Map();
  #keptAway = new Set();

  constructor() {
    this.clear();
  }

  /**
   * Shows or changes a banner. `tone` is "info", "waiting" or "failed"; `detail` is text for those who want to know more;
   * `actions` are `{ label, run }` or `{ label, href }`; with `onDismiss` it can be dismissed.
   */
  show(name, { tone = "info", text, detail = null, actions = [], onDismiss = null }) {
    if (this.#keptAway.has(name)) return;
    const banner = make("div", { class: `banner banner-${tone}`, role: tone === "info" ? "status" : "alert", data: { banner: name } });
    const controls = actions.map(({ label, run, href }) =>
      href ? make("a", { class: "button", href, text: label }) : make("button", { type: "button", text: label, on: { click: run } }),
    );
    if (onDismiss) {
      const dismiss = () => {
        onDismiss();
        this.hide(name);
      };
      controls.push(make("button", { type: "button", class: "quiet-button icon-button", "aria-label": "Dismiss", title: "Dismiss", on: { click: dismiss } }, icon("close")));
    }
    const words = make("span", { class: "banner-text" }, ...(typeof text === "string" ? prose(text) : [text]));
    banner.append(make("div", { class: "banner-body" }, words, detailsOf(detail) ?? ""), ...controls);
    this.#shown.get(name)?.remove();
    this.#shown.set(name, banner);
    this.#container.append(banner);
  }

  /** A banner of that name is not shown again on this page. */
  keepAway(name) {
    this.#keptAway.add(name);
  }

  /** Changes the words of a banner without making a screen reader read it again. */
  setText(name, text) {
    const shown = this.#shown.get(name)?.querySelector(".banner-text");
    if (shown && shown.textContent !== text.replaceAll("`", "")) shown.replaceChildren(...prose(text));
  }

  has(name) {
    return this.#shown.has(name);
  }

  hide(name) {
    this.#shown.get(name)?.remove();
    this.#shown.delete(name);
  }

  clear() {
    this.#container.replaceChildren();
    this.#shown.clear();
  }
}

/** Few sessions ever need it, so it is loaded when one does. */
async function logIn(runtime) {
  const { openLogin } = await import("../setup/agentLogin.js");
  return openLogin(runtime);
}
