// Icons, drawn on a grid of 16.

const PATHS = {
  back: "M10 3 5 8l5 5",
  chevron: "M6 4l4 4-4 4",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  check: "M3 8.5 6.5 12 13 4.5",
  edit: "M3 13l1-3 7-7 2 2-7 7zM9.5 4.5l2 2",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5 5 13h6l.5-8.5",
  reopen: "M12.5 5.5A5 5 0 1 0 13 8M12.5 2.5v3h-3",
  folder: "M2 4h4l1.5 2H14v7H2z",
  branch: "M5 3v7M5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11 6c0 3-3 3-6 4.5",
  inbox: "M2 9l2-6h8l2 6v4H2zM2 9h3.5l1 2h3l1-2H14",
  bell: "M4 11.5V7.5a4 4 0 0 1 8 0v4zM2.5 11.5h11M7 13.5h2",
  bellOff: "M4 11.5V7.5c0-.6.1-1.1.3-1.6M6 4a4 4 0 0 1 6 3.5v1M2.5 11.5h9M7 13.5h2M2.5 2.5l11 11",
  install: "M8 2.5v7M5 6.5l3 3 3-3M3 10.5v3h10v-3",
  diff: "M8 2.5v6M5 5.5h6M5 12.5h6",
  info: "M8 7v4.5M8 4.3v.4M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  attach: "M12.5 7 7.8 11.7a2.6 2.6 0 0 1-3.7-3.7l5-5a1.8 1.8 0 0 1 2.5 2.5L6.8 10.3a.9.9 0 0 1-1.3-1.3L9.8 4.7",
  down: "M8 3v9M4 8.5 8 12.5 12 8.5",
  outline: "M2.5 4h.1M2.5 8h.1M2.5 12h.1M5.5 4h8M5.5 8h8M5.5 12h5",
  height: "M8 2.5v11M5.5 5 8 2.5 10.5 5M5.5 11 8 13.5 10.5 11",
  up: "M8 13V4M4 7.5 8 3.5 12 7.5",
  down: "M8 3v9M4 8.5 8 12.5 12 8.5",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  leave: "M7 3H3v10h4M6.5 8H14M11 5l3 3-3 3",
  power: "M8 2v5.5M5 4a5 5 0 1 0 6 0",
  queue: "M2.5 4h9M2.5 8h9M2.5 12H7M12 10v4M10 12h4",
  steer: "M3 13V8.5A2.5 2.5 0 0 1 5.5 6H13M10 3l3 3-3 3",
  stop: "M4 4h8v8H4z",
  template: "M3 2.5h10v11H3zM5.5 6h5M5.5 9h3",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  keys: "M2 4h12v8H2zM4.5 6.5h.1M7 6.5h.1M9.5 6.5h.1M12 6.5h-.1M5 9.5h6",
  light: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1",
  meter: "M3 13V9M6.5 13V5.5M10 13V8M13.5 13V3",
  plus: "M8 3.5v9M3.5 8h9",
  sidebar: "M2 3h12v10H2zM6.5 3v10",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3 14 14",
  job: "M3 3.5h4v3H3zM9 9.5h4v3H9zM7 5h4v4.5",
  command: "M3 4l4 4-4 4M8.5 12.5H13",
  text: "M3 4h10M3 8h10M3 12h6",
  settings: "M2.5 5h5M11.5 5h2M9.5 3v4M2.5 11h2M8.5 11h5M6.5 9v4",
  pulse: "M1.5 8.5h3l2-5 3 9 2-4h3",
};

/** An icon that screen readers skip; there is text next to it or in a label. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
