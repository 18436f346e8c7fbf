// Lines above the content of a page, each visible until its reason ends or it is dismissed.

import { loginAddress } from "./api.js";
import { byId, make, prose } from "./dom.js";
import { exactElement } from "./exactText.js";
import { icon } from "./icons.js";

/** The banners of the page, by name. */
export class Banners {
  #container = byId("banners");
  #shown = new Map();

  constructor() {
    this.clear();
  }

  /**
   * Shows or changes a banner. `tone` is "info", "waiting" or "failed"; `detail` is text for those who want to know more;
   * `actions` are `{ label, run }` or `{ label, href }`; with `onDismiss` it can be dismissed.
   */
  show(name, { tone = "info", text, detail = null, actions = [], onDismiss = null }) {
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

/** The banner that says that the server cannot be reached, and when it is asked again. */
export class ConnectionBanner {
  #banners;
  #countdown = null;
  #tryNow = () => {};

  constructor(banners) {
    this.#banners = banners;
  }

  /** `lost` is null when the server answers, else `{ problem, retryAt }`. */
  show(lost, tryNow) {
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
}

/** The words of an agent or a program, behind one line of ours. */
export function detailsOf(text) {
  if (typeof text !== "string" || text.trim() === "") return null;
  return make("details", { class: "raw-details" }, make("summary", { text: "Details" }), exactElement("pre", { tabindex: "0" }, text));
}
