// A stretch of a session's log in the document. Pages that are far away are emptied and filled again when they come near.

import { make } from "../lib/dom.js";

export class TranscriptPage {
  element = make("div", { class: "transcript-page" });
  /** The numbers of the first and last event; 0 while there is none. */
  firstSeq = 0;
  lastSeq = 0;
  /** Keys of the blocks that begin here. */
  keys = new Set();
  /** Blocks that begin here and end on a later page: key → number of the end. */
  endsElsewhere = new Map();
  /** Open blocks and requests; a page that has any stays. */
  open = 0;
  /** The turn that runs at this point of the page. */
  turn = null;
  /** The turn that runs where the page begins, if its beginning is on an earlier page. */
  headTurn = null;
  /** Whether a turn ends here, and what then comes outside turns. */
  hasEnd = false;
  strayTurn = null;
  /** The days of the first and last event, and the line above the page that names the first. */
  firstDay = null;
  lastDay = null;
  separator = null;
  /** Prompts that wait for their turn at this point. */
  queued = [];
  /** The line that counts the retries of the turn that runs at this point. */
  retries = null;
  isLoaded = true;
  /** Nothing of it has been in the document yet. */
  isGap = false;

  /** A stretch that is loaded when it comes near: events from `firstSeq` to `lastSeq`, if there are any. */
  static gap(firstSeq, lastSeq, height) {
    const page = new TranscriptPage();
    Object.assign(page, { firstSeq, lastSeq, isLoaded: false, isGap: true });
    page.element.style.height = `${height}px`;
    page.element.classList.add("unloaded");
    return page;
  }

  noteEvent(seq) {
    if (!seq) return;
    if (this.firstSeq === 0) this.firstSeq = seq;
    this.lastSeq = seq;
  }

  /** The page's place is kept, its content is not. */
  unload() {
    const { height } = this.element.getBoundingClientRect();
    this.element.replaceChildren();
    this.element.style.height = `${height}px`;
    this.element.classList.add("unloaded");
    this.isLoaded = false;
    this.keys.clear();
    this.turn = null;
    this.headTurn = null;
    this.hasEnd = false;
    this.strayTurn = null;
    this.firstDay = null;
    this.lastDay = null;
    this.separator = null;
    this.queued = [];
    this.retries = null;
  }

  beginRefill() {
    this.element.style.height = "";
    this.element.classList.remove("unloaded");
    this.isLoaded = true;
    this.isGap = false;
  }
}
