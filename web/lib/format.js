// Times, sizes and paths as people read them.

import { keep, kept } from "./storage.js";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const EXACT_TIMES = "flightdeck.times";
let exactTimes = null;

/** Whether this browser shows exact times where it would say how long ago something was. */
export function isExact() {
  exactTimes ??= kept(EXACT_TIMES) === "exact";
  return exactTimes;
}

/** Returns whether the browser keeps the choice. */
export function setExactTimes(exact) {
  exactTimes = exact;
  return keep(EXACT_TIMES, exact ? "exact" : "relative");
}

/** How long ago, in one or two short words; or when, for a person who prefers that. */
export function ago(time, now = Date.now()) {
  if (isExact()) return new Date(time).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
  const seconds = Math.max(0, Math.floor((now - new Date(time).getTime()) / 1000));
  // Seconds would only make a page restless.
  if (seconds < MINUTE) return "just now";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`;
  if (seconds < 14 * DAY) return `${Math.floor(seconds / DAY)} d ago`;
  return new Date(time).toLocaleDateString();
}

export function exactTime(time) {
  return new Date(time).toLocaleString();
}

export function clockTime(time) {
  return new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

export function duration(milliseconds) {
  if (milliseconds < 59_950) return `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ${seconds % MINUTE} s`;
  return `${Math.floor(seconds / HOUR)} h ${Math.floor((seconds % HOUR) / MINUTE)} min`;
}

/** 950, 4.1k, 128k, 1.2M. */
export function count(number) {
  if (number < 1000) return String(number);
  const [value, unit] = number < 999_500 ? [number / 1000, "k"] : [number / 1_000_000, "M"];
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)}${unit}`;
}

/** 950 bytes, 32 KB, 1.5 MB, 2 GB. */
export function bytes(number) {
  if (number < 1024) return `${number} bytes`;
  if (number < 1023.5 * 1024) return `${Math.round(number / 1024)} KB`;
  const [size, unit] = number < 1023.95 * 1024 ** 2 ? [number / 1024 ** 2, "MB"] : [number / 1024 ** 3, "GB"];
  return `${size.toFixed(1).replace(/\.0$/, "")} ${unit}`;
}

/** A text as a sentence begins. The name of a setting, such as `server.bind` or `base_url`, keeps its case. */
export function capitalized(text) {
  return /^[a-z]\w*[._/]\w/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a check found, and what to do about it, if there is anything: both are parts of sentences. */
export function withHint({ message, hint }) {
  return hint ? `${message.replace(/\.$/, "")}. ${capitalized(hint)}` : message;
}

export function plural(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** A path that fits: its middle goes first, its end is what tells folders apart. */
export function shortPath(path, longest = 48) {
  if (!path || path.length <= longest) return path ?? "";
  const separator = path.includes("/") ? "/" : "\\";
  const parts = path.split(separator);
  for (let kept = parts.length - 1; kept > 1; kept -= 1) {
    const short = [parts[0], parts[1], "…", ...parts.slice(parts.length - kept + 1)].join(separator);
    if (short.length <= longest && parts.length - kept + 1 > 2) return short;
  }
  const tail = Math.floor((longest - 1) * 0.7);
  return `${path.slice(0, longest - 1 - tail)}…${path.slice(-tail)}`;
}

/** The last part of a path. */
export function baseName(path) {
  return path.split(/[\\/]/).filter(Boolean).pop() ?? path;
}
