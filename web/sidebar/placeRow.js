// One line of the sidebar: what a session or job is doing, its name, and how long ago something happened in it.

import { make } from "../lib/dom.js";
import { exactNodes, exactString } from "../lib/exactText.js";
import { ago, exactTime } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { markOf } from "./places.js";

export class PlaceRow {
  element = make("li");
  #link = make("a", { class: "sidebar-row" });
  #mark = make("span", { "aria-hidden": "true" }, make("span", { class: "state-mark" }));
  #title = make("bdi", { class: "sidebar-title" });
  #word = make("span", { class: "visually-hidden" });
  #age = make("time", { class: "sidebar-age" });
  #shown = "";
  #time = null;

  constructor(place) {
    this.#link.append(this.#mark, ...(place.kind === "job" ? [icon("job")] : []), this.#title, this.#word, this.#age);
    this.#link.dataset.place = place.key;
    if (place.isLocal) this.#link.dataset.local = "";
    this.element.append(this.#link);
  }

  /** Shows a place; `isHere` is whether the page shows it. What says the same is left alone. */
  show(place, isHere) {
    const unread = place.unread && !isHere;
    const key = JSON.stringify([place.title, place.address, place.mark, place.word, place.folder, place.group, place.about, unread, isHere]);
    this.#time = place.time;
    this.showAge();
    if (key === this.#shown) return;
    this.#shown = key;
    this.#link.href = place.address;
    this.#link.title = exactString([place.title, place.folder, `${place.word}${unread ? ", unread" : ""} · ${place.about}`].filter(Boolean).join(" — "));
    if (isHere) this.#link.setAttribute("aria-current", "page");
    else this.#link.removeAttribute("aria-current");
    this.#link.classList.toggle("unread", unread);
    this.#mark.className = `sidebar-mark state-${markOf({ mark: place.mark, unread })}`;
    this.#title.replaceChildren(...exactNodes(place.title, { oneLine: true }));
    const words = [place.kind === "job" && "job", place.word, unread && "unread"].filter(Boolean).join(", ");
    this.#word.textContent = `, ${words},`;
  }

  /** "5 min" must stay current. */
  showAge() {
    const text = this.#time ? age(this.#time) : "";
    if (this.#age.textContent === text) return;
    this.#age.textContent = text;
    if (this.#time) {
      this.#age.dateTime = new Date(this.#time).toISOString();
      this.#age.title = exactTime(this.#time);
    }
  }
}

/** In few letters: "now", "5 min". */
function age(time) {
  return ago(time).replace(/^just | ago$/, "");
}
