// The quiet parts below the sessions. Which of them are open is kept.

import { byId } from "../lib/dom.js";
import { remember, remembered } from "./remembered.js";

const OPEN = "openSections";

export class HomeSections {
  /** `sections` are ids of `details` elements; `onOpen` is called with the id of one that opens. */
  constructor(sections, onOpen) {
    const kept = remembered(OPEN, {});
    for (const id of sections) {
      const section = byId(id);
      if (typeof kept[id] === "boolean") section.open = kept[id];
      section.addEventListener("toggle", () => {
        if (remembered(OPEN, {})[id] !== section.open) remember(OPEN, { ...remembered(OPEN, {}), [id]: section.open });
        if (section.open) onOpen(id);
      });
    }
  }

  /** They appear once what is above them has its size, so that nothing moves. */
  reveal() {
    byId("home-sections").hidden = false;
  }
}
