// The sidebar: what needs a person, what works, what is recent; or the same by folder. On narrow windows it is a drawer.

import { jobInAddress, sessionInAddress, setupAddress } from "../lib/address.js";
import { byId, make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { inbox } from "../lib/inboxStream.js";
import { jobList } from "../lib/jobList.js";
import { sessionList } from "../lib/sessionList.js";
import { keep, kept, parsed } from "../lib/storage.js";
import { arrange } from "./arrange.js";
import { Drawer } from "./drawer.js";
import { FolderChanges } from "./folderChanges.js";
import { FolderGroup, PlaceGroup } from "./placeGroup.js";
import { PlaceRow } from "./placeRow.js";
import { allPlaces, sorted } from "./places.js";

/** The pages of jobs have less room, so what is chosen there holds there (see early.js). */
const OPEN_KEY = location.pathname.startsWith("/job") ? "flightdeck.sidebar.jobs" : "flightdeck.sidebar";
const FOLDERS_KEY = "flightdeck.sidebar.folders";
const CLOSED_FOLDERS_KEY = "flightdeck.sidebar.closed";
/** Older ones are on the home page. */
const MOST_RECENT = 100;
const MOST_CLOSED_FOLDERS = 100;
/** Messages that come together are one change. */
const TOGETHER = 40;
const AGE_TICK = 30_000;
const NARROW = matchMedia("(max-width: 900px)");
const root = document.documentElement;

export class Sidebar {
  #element = byId("sidebar");
  #button = byId("sidebar-button");
  #list = make("div", { class: "sidebar-list" });
  #note = make("p", { class: "sidebar-note", role: "status", text: "Loading …" });
  #older = make("a", { class: "sidebar-older", href: homeAddress(), data: { local: "" }, text: "All sessions" });
  #byFolder;
  #drawer = new Drawer(this.#element);
  #rows = new Map();
  #groups = { needs: new PlaceGroup("Needs you", "needs"), working: new PlaceGroup("Working", "working"), recent: new PlaceGroup("Recent", "recent") };
  #folders = new Map();
  #closedFolders = new Set(keptFolders());
  #changes = new FolderChanges();
  #hasLoaded = false;
  #scheduled = null;
  /** While the pointer is over the rows, none of them moves: a click must open what it was aimed at. */
  #isPointedAt = false;
  /** What has the focus until the row of this page is loaded. */
  #focusedMeanwhile = null;
  /** Whether the row of this page has been shown, so that the reader's own scrolling counts from then on. */
  #hasShownHere = false;

  /** `openSwitcher` opens the switcher. */
  constructor({ openSwitcher }) {
    const search = make("button", { type: "button", class: "sidebar-search", title: "Go to a session, job or command (Ctrl+K)", on: { click: openSwitcher } }, icon("search"), make("span", { text: "Go to …" }), make("kbd", { text: "Ctrl+K" }));
    const start = make("a", { class: "button quiet-button icon-button sidebar-new", href: homeAddress(), data: { local: "" }, "aria-label": "New session", title: "New session (Alt+H)" }, icon("plus"));
    this.#byFolder = make("button", { type: "button", class: "quiet-button sidebar-by-folder", "aria-pressed": String(kept(FOLDERS_KEY) === "on"), on: { click: () => this.groupByFolder() } }, icon("folder"), "Group by folder");
    this.#element.append(make("div", { class: "sidebar-head" }, search, start), this.#list, make("div", { class: "sidebar-foot" }, this.#byFolder));
    this.#list.append(this.#note);
    this.#button.append(icon("sidebar"));
    this.#button.addEventListener("click", () => this.toggle());
    this.#button.disabled = false;
    this.#listen();
    this.#showOpen();
    if (this.isOpen) this.#load();
  }

  get isOpen() {
    return NARROW.matches ? this.#drawer.isOpen : root.dataset.sidebar === "open";
  }

  /** Opens or closes it. By key, the focus goes with it. */
  toggle({ byKey = false } = {}) {
    const open = !this.isOpen;
    const hadFocus = this.#element.contains(document.activeElement);
    if (NARROW.matches) this.#drawer.set(open);
    else {
      root.dataset.sidebar = open ? "open" : "closed";
      keep(OPEN_KEY, root.dataset.sidebar);
    }
    this.#showOpen();
    if (open) this.#load();
    if (open && (byKey || NARROW.matches)) this.#focusRow();
    else if (!open && hadFocus) this.#button.focus();
  }

  /** Groups by folder, or no longer. */
  groupByFolder() {
    const on = this.#byFolder.getAttribute("aria-pressed") !== "true";
    this.#byFolder.setAttribute("aria-pressed", String(on));
    keep(FOLDERS_KEY, on ? "on" : "off");
    this.#show({ moves: true });
  }

  #listen() {
    for (const source of [sessionList, jobList]) source.addEventListener("change", () => this.#schedule());
    // Sessions that are older than those in the list are known from the stream alone.
    inbox.addEventListener("entry", ({ detail: { entry, before } }) => {
      if (before && entry.state !== before.state && entry.workingDirectory) this.#changes.setOld(entry.workingDirectory);
      this.#schedule();
    });
    inbox.addEventListener("connection", () => {
      if (inbox.isConnected && this.#hasLoaded && !sessionList.isLoaded) this.#fetch();
    });
    this.#changes.onChange = () => this.#schedule();
    this.#drawer.onChange = () => this.#showOpen();
    document.addEventListener("visibilitychange", () => !document.hidden && this.#schedule());
    addEventListener("popstate", () => {
      this.#drawer.set(false);
      this.#show({ moves: true });
    });
    this.#element.addEventListener("click", (event) => event.target.closest("a") && this.#drawer.set(false));
    this.#list.addEventListener("pointerenter", ({ pointerType }) => {
      this.#isPointedAt = pointerType === "mouse";
    });
    this.#list.addEventListener("pointerleave", () => {
      this.#isPointedAt = false;
      this.#schedule();
    });
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    NARROW.addEventListener("change", () => {
      this.#drawer.set(false);
      this.#showOpen();
      if (this.isOpen) this.#load();
    });
    setInterval(() => !document.hidden && this.#rows.forEach((row) => row.showAge()), AGE_TICK);
  }

  #showOpen() {
    this.#button.setAttribute("aria-expanded", String(this.isOpen));
  }

  /** Nothing is asked for while it is closed. */
  #load() {
    if (this.#hasLoaded) this.#show({ moves: true });
    else {
      this.#hasLoaded = true;
      this.#fetch();
    }
  }

  #fetch() {
    jobList.load();
    if (sessionList.isLoaded) this.#show({ moves: true });
    else sessionList.load().catch(() => {});
  }

  #schedule() {
    if (!this.#hasLoaded) return;
    this.#scheduled ??= setTimeout(() => {
      this.#scheduled = null;
      this.#show({ moves: !this.#isPointedAt });
    }, TOGETHER);
  }

  #show({ moves }) {
    if (!this.#hasLoaded || !this.isOpen) return;
    const here = sessionInAddress() ?? jobInAddress().jobId;
    const places = allPlaces().filter((place) => !place.isStep || place.id === here);
    if (!moves) {
      for (const place of places) this.#rows.get(place.key)?.show(place, place.id === here);
      return;
    }
    const keys = new Set(places.map(({ key }) => key));
    for (const key of this.#rows.keys()) if (!keys.has(key)) this.#rows.delete(key);
    const rowOf = (place) => {
      if (!this.#rows.has(place.key)) this.#rows.set(place.key, new PlaceRow(place));
      const row = this.#rows.get(place.key);
      row.show(place, place.id === here);
      return row.element;
    };
    const byFolder = this.#byFolder.getAttribute("aria-pressed") === "true";
    arrange(this.#list, [...(byFolder ? this.#folderGroups(places, rowOf) : this.#plainGroups(places, rowOf)), ...this.#remarks(places)]);
    this.#showHere();
    if (document.activeElement === this.#focusedMeanwhile) this.#focusRow();
    else this.#focusedMeanwhile = null;
  }

  /** Scrolls the list, and nothing around it, to the row of this page. */
  #showHere() {
    const here = this.#list.querySelector('[aria-current="page"]');
    if (this.#hasShownHere || !here?.checkVisibility()) return;
    // The stream may tell of some sessions before the list has all of them in their order.
    this.#hasShownHere = sessionList.isLoaded || sessionList.problem !== null;
    const [row, list] = [here.getBoundingClientRect(), this.#list.getBoundingClientRect()];
    if (row.top < list.top || row.bottom > list.bottom) this.#list.scrollTop += row.top - list.top - (list.height - row.height) / 2;
  }

  #plainGroups(places, rowOf) {
    const { needs, working, recent } = sorted(places);
    const shown = [["needs", needs], ["working", working], ["recent", recent.slice(0, MOST_RECENT)]].filter(([, some]) => some.length > 0);
    return shown.map(([name, some]) => {
      this.#groups[name].show(some.map(rowOf), { countsAll: name !== "recent" });
      return this.#groups[name].element;
    });
  }

  #folderGroups(places, rowOf) {
    const folders = [...Map.groupBy(places, ({ folder }) => folder ?? "")].map(([folder, some]) => ({ folder, ...sorted(some) }));
    const rank = ({ needs, working }) => (needs.length > 0 ? 0 : working.length > 0 ? 1 : 2);
    const newest = ({ needs, working, recent }) => Math.max(...[...needs, ...working, ...recent].map(({ time }) => time ?? 0));
    folders.sort((one, other) => rank(one) - rank(other) || newest(other) - newest(one));
    return folders.map(({ folder, needs, working, recent }) => {
      const group = this.#folderGroup(folder);
      const all = [...needs, ...working, ...recent];
      const sessionId = all.find(({ kind }) => kind === "session")?.id ?? null;
      const changes = folder && sessionId && group.isOpen ? this.#changes.of(folder, sessionId) : null;
      group.show(all.slice(0, MOST_RECENT).map(rowOf), { needs: needs.length, changes, sessionId });
      return group.element;
    });
  }

  #folderGroup(folder) {
    if (!this.#folders.has(folder)) {
      const group = new FolderGroup(folder, !this.#closedFolders.has(folder));
      group.onToggle = (isOpen) => {
        if (isOpen) this.#closedFolders.delete(folder);
        else this.#closedFolders.add(folder);
        keep(CLOSED_FOLDERS_KEY, JSON.stringify([...this.#closedFolders].slice(-MOST_CLOSED_FOLDERS)));
        this.#show({ moves: true });
      };
      this.#folders.set(folder, group);
    }
    return this.#folders.get(folder);
  }

  /** What is below the rows: where the older ones are, or why there are none. */
  #remarks(places) {
    const { problem, isLoaded, hasMore } = sessionList;
    const note = problem ? `Could not load sessions: ${problem.message}` : !isLoaded ? "Loading …" : places.length === 0 ? "No sessions yet." : "";
    if (this.#note.textContent !== note) this.#note.textContent = note;
    return [...(note ? [this.#note] : []), ...(hasMore || places.length > MOST_RECENT ? [this.#older] : [])];
  }

  /** Arrow keys move among rows and folders. */
  #key(event) {
    const stops = [...this.#list.querySelectorAll(".sidebar-row, .sidebar-folder, .sidebar-older")].filter((stop) => stop.checkVisibility());
    const at = stops.indexOf(document.activeElement);
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const folder = this.#folderOf(document.activeElement);
    const steps = {
      ArrowDown: () => stops[at + 1]?.focus(),
      ArrowUp: () => stops[at - 1]?.focus(),
      Home: () => stops[0].focus(),
      End: () => stops.at(-1).focus(),
      ArrowRight: folder && (() => folder.toggle(true)),
      ArrowLeft: folder && (() => folder.toggle(false)),
    };
    if (!steps[event.key]) return;
    event.preventDefault();
    steps[event.key]();
  }

  #folderOf(element) {
    return element.matches(".sidebar-folder") ? [...this.#folders.values()].find((group) => group.element.contains(element)) : null;
  }

  #focusRow() {
    const here = this.#list.querySelector('[aria-current="page"]');
    const place = here ?? this.#list.querySelector(".sidebar-row, .sidebar-folder") ?? this.#element.querySelector("button");
    place.focus();
    this.#focusedMeanwhile = here || sessionList.isLoaded ? null : place;
  }
}

function homeAddress() {
  return ["/", "/index.html"].includes(location.pathname) ? setupAddress() : "/index.html";
}

function keptFolders() {
  const folders = parsed(kept(CLOSED_FOLDERS_KEY));
  return Array.isArray(folders) ? folders : [];
}
