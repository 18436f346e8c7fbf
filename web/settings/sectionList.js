// The sections: the list at the left (a select on phones), the one that the address names, and the search over all.

import { loginAddress } from "../lib/api.js";
import { byId, make } from "../lib/dom.js";
import { SettingSearch } from "./settingSearch.js";

export class SectionList {
  isLoaded = false;
  #isFailed = false;
  #sections;
  #context;
  #links = new Map();
  #places = new Map();
  #search = byId("settings-search");
  #select = byId("section-select");
  #finder = new SettingSearch();

  /** `sections` are `{ id, title, build(context), isLocal }`; a local one needs nothing of the server. */
  constructor(sections, context) {
    this.#sections = sections;
    this.#context = context;
    for (const { id, title } of sections) {
      this.#links.set(id, make("a", { href: `#${id}`, text: title }));
      this.#places.set(id, make("section", { id: `section-${id}`, class: "settings-section", hidden: true, "aria-labelledby": `title-${id}` }, make("h2", { id: `title-${id}`, tabindex: "-1", text: title }), make("div", { class: "section-body" })));
    }
    byId("section-list").append(make("ul", {}, ...[...this.#links.values()].map((link) => make("li", {}, link))));
    this.#select.append(...sections.map(({ id, title }) => make("option", { value: id, text: title })));
    this.#select.addEventListener("change", () => (location.hash = this.#select.value));
    byId("settings-sections").append(...this.#places.values());
    this.#search.addEventListener("input", () => this.#find());
    this.#search.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.#search.value) return;
      event.preventDefault();
      this.#search.value = "";
      this.#find();
    });
    // Some lists come later than their sections.
    const later = new MutationObserver((changes) => this.#words.length > 0 && SettingSearch.concerns(changes) && this.#find());
    later.observe(byId("settings-sections"), { childList: true, subtree: true, attributeFilter: ["aria-busy"] });
    addEventListener("hashchange", () => {
      this.#search.value = "";
      this.show();
      byId("settings-part").scrollTop = 0;
      byId(`title-${this.#current}`).focus({ preventScroll: true });
    });
  }

  get #current() {
    const named = location.hash.slice(1);
    return this.#links.has(named) ? named : this.#sections[0].id;
  }

  /** What is searched for; nothing while there is no search. */
  get #words() {
    return this.#search.value.toLowerCase().split(/\s+/).filter(Boolean);
  }

  loading() {
    this.isLoaded = false;
    this.#isFailed = false;
    for (const { id, isLocal } of this.#sections) if (!isLocal) this.#body(id).replaceChildren(make("p", { class: "empty", text: "Loading …" }));
  }

  loaded() {
    this.isLoaded = true;
    for (const { id, isLocal } of this.#sections) if (!isLocal) delete this.#places.get(id).dataset.built;
    this.#find();
  }

  /** Nothing can be shown: says why in each section that needs the server. */
  failed(problem, retry) {
    this.#isFailed = true;
    const words = problem.status === 403 ? "This login can't see settings: they need the scope admin. Log in with the server's own token, or use the link that `flightdeck open` prints." : problem.isLoggedOut ? "You are no longer logged in." : `Could not load the settings: ${problem.message}`;
    for (const { id, isLocal } of this.#sections) {
      if (isLocal) continue;
      const way = problem.isLoggedOut ? make("a", { class: "button", href: loginAddress(), text: "Log in" }) : make("button", { type: "button", text: "Retry", on: { click: retry } });
      this.#body(id).replaceChildren(make("div", { class: "not-loaded" }, make("p", { class: "field-problem", role: "alert", text: words }), way));
    }
    this.show();
  }

  /** Shows the section that the address names. */
  show() {
    const current = this.#current;
    for (const [id, link] of this.#links) {
      if (id === current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
      this.#places.get(id).hidden = id !== current;
    }
    this.#select.value = current;
    byId("search-empty").hidden = true;
    this.#places.forEach((place) => this.#finder.clear(place));
    this.#build(current);
  }

  #body(id) {
    return this.#places.get(id).querySelector(".section-body");
  }

  /** A section is built when it is first seen, because some ask the server for more. */
  #build(id) {
    const place = this.#places.get(id);
    const { build, isLocal } = this.#sections.find((section) => section.id === id);
    if (place.dataset.built || !(this.isLoaded || isLocal)) return;
    place.dataset.built = "true";
    this.#body(id).replaceChildren(...build(this.#context));
  }

  /** Shows what contains all words of the search, whatever section it is in. */
  #find() {
    const words = this.#words;
    if (words.length === 0) {
      this.show();
      return;
    }
    let found = 0;
    for (const [id, place] of this.#places) {
      this.#build(id);
      const inSection = this.#finder.find(place, words);
      place.hidden = inSection === 0;
      found += inSection;
    }
    const isComplete = this.isLoaded && !byId("settings-sections").querySelector('[aria-busy="true"]');
    const empty = byId("search-empty");
    empty.hidden = found > 0;
    empty.textContent = found > 0 ? "" : isComplete ? "No setting matches." : this.#isFailed ? "The settings could not be loaded." : "Searching …";
  }
}
