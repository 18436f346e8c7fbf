// What every page has to move around: sidebar, switcher, inbox, and the key to what needs the person next.

import { goTo } from "../lib/address.js";
import { announce } from "../lib/announcer.js";
import { nextWaiting } from "../lib/attention.js";
import { Sidebar } from "../sidebar/sidebar.js";
import { Switcher } from "../switcher/switcher.js";
import { useInbox } from "./inbox.js";
import { showStorageNote } from "./storageNote.js";
import { nextTheme, setTheme } from "../lib/theme.js";

export class Around {
  inbox = useInbox();
  sidebar;
  switcher;

  /** `commands()` returns what the page can do now, for the switcher. */
  constructor(commands) {
    showStorageNote();
    this.switcher = new Switcher(() => [...commands(), ...this.#ownCommands()]);
    this.sidebar = new Sidebar({ openSwitcher: () => this.switcher.open() });
    // Also while somebody writes: no page has another use for it.
    document.addEventListener("keydown", (event) => {
      const isSwitcher = event.code === "KeyK" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (!isSwitcher || event.repeat || event.defaultPrevented) return;
      event.preventDefault();
      this.switcher.toggle();
    });
  }

  /** Actions with Alt, by the place of the key. */
  get keys() {
    return {
      KeyI: () => this.inbox.toggle(),
      KeyL: () => this.sidebar.toggle({ byKey: true }),
      KeyN: () => this.goToNext(),
    };
  }

  /** Opens what waits, without going to its answers: a key that is typed next must not decide anything. */
  goToNext() {
    const next = nextWaiting();
    if (!next) {
      announce("Nothing else needs your input");
      this.inbox.open();
    } else if (["/", "/index.html"].includes(location.pathname) && !next.address.startsWith("/")) goTo(next.address);
    else location.assign(next.address);
  }

  /** The cards of the inbox, if they are what Alt+A should go to: the person is there, or nothing else waits on the page. */
  requests(others) {
    const own = this.inbox.openRequests;
    const isThere = document.getElementById("side-panel").contains(document.activeElement);
    return own.length > 0 && (isThere || others.length === 0) ? own : others;
  }

  #ownCommands() {
    return [
      { id: "next", label: "Next that needs your input", key: "Alt+N", also: "waiting permission question", run: () => this.goToNext() },
      { id: "inbox", label: "Inbox", key: "Alt+I", also: "requests approvals", run: () => this.inbox.open() },
      { id: "sidebar", label: this.sidebar.isOpen ? "Hide the sidebar" : "Show the sidebar", key: "Alt+L", run: () => this.sidebar.toggle({ byKey: true }) },
      { id: "folders", label: "Group the sidebar by folder", also: "ungroup", run: () => this.sidebar.groupByFolder() },
      { id: "theme", label: `Theme: switch to ${nextTheme()}`, also: "appearance dark light system", run: () => setTheme(nextTheme()) },
    ];
  }
}

/** Goes to the oldest of these cards; from one of them, to the next. */
export function goToRequest(requests) {
  const at = requests.findIndex(({ divElement }) => divElement.contains(document.activeElement));
  const next = requests[(at + 1) % requests.length];
  next.divElement.scrollIntoView({ block: "nearest" });
  next.takeKeys();
}
