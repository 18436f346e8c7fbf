// All operations, group by group, and the list of groups beside them.

import { make, prose } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { operationDetails } from "./operationDetails.js";

/** The words of a filter. */
function wordsOf(text) {
  return text.toLowerCase().split(/\s+/).filter((word) => word !== "");
}

export class OperationList {
  #api;
  #places;
  #count;
  /** `{ operation, element }` of every operation. */
  #entries = [];
  /** `{ section, link, entries }` of every group. */
  #sections = [];

  constructor(api, { groups, operations, count }) {
    this.#api = api;
    this.#places = operations;
    this.#count = count;
    const links = make("ul");
    for (const group of api.groups) {
      const id = `group-${group.name.replaceAll(" ", "-")}`;
      const entries = group.operations.map((operation) => ({ operation, element: this.#entry(operation) }));
      const heading = make("h2", { id, text: group.name });
      const section = make("section", { "aria-labelledby": id }, heading, make("p", { class: "api-group-about" }, ...prose(group.description)), ...entries.map((entry) => entry.element));
      const link = make("li", {}, make("a", { href: `#${id}`, text: group.name }));
      links.append(link);
      operations.append(section);
      this.#entries.push(...entries);
      this.#sections.push({ section, link, entries });
    }
    groups.append(links);
  }

  /** Shows the operations in which every word occurs. */
  filter(text) {
    const words = wordsOf(text);
    let shown = 0;
    for (const { section, link, entries } of this.#sections) {
      for (const { operation, element } of entries) element.hidden = !operation.matches(words);
      const matching = entries.filter(({ element }) => !element.hidden).length;
      section.hidden = link.hidden = matching === 0;
      shown += matching;
    }
    this.#count.textContent = shown === 0 ? "No operation matches" : plural(shown, "operation");
  }

  /** Opens the operation with an id, if there is one. */
  show(id) {
    const found = this.#entries.find(({ operation }) => operation.id === id);
    if (!found) return;
    found.element.open = true;
    found.element.scrollIntoView({ block: "start" });
    found.element.querySelector("summary").focus({ preventScroll: true });
  }

  #entry(operation) {
    const element = make(
      "details",
      { class: "api-operation", id: operation.id, data: { method: operation.method } },
      make(
        "summary",
        {},
        make("span", { class: `api-method api-method-${operation.method.toLowerCase()}`, text: operation.method }),
        make("code", { class: "api-path", text: operation.path }),
        make("span", { class: "api-summary", text: operation.summary }),
      ),
    );
    // Hundreds of schemas at once would make the page slow, and most are never looked at.
    element.addEventListener("toggle", () => {
      if (element.open && element.children.length === 1) element.append(operationDetails(this.#api, operation));
    });
    return element;
  }
}
