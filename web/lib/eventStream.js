// Server-sent events over fetch. The browser's own EventSource cannot send the header that requests for data need.

import { openStream } from "./api.js";

/**
 * Reads a stream until it ends or `signal` aborts. `onOpen()` is called once it is there, `onData(text, { event, id })`
 * with the data, the name and the number of each event. Resolves at the end of the stream and rejects with a `Problem`
 * when it cannot be opened or breaks off.
 */
export async function readEvents(path, { onOpen, onData, signal }) {
  const body = await openStream(path, { signal });
  onOpen();
  // A stream that has ended for good has no body.
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const events = new EventParser(onData);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    events.take(value);
  }
}

/** Assembles events from chunks of any size. Lines end in LF, as the server writes them. */
export class EventParser {
  #rest = "";
  #data = [];
  #event = "message";
  #id = null;
  #onData;

  constructor(onData) {
    this.#onData = onData;
  }

  take(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) this.#takeLine(line);
  }

  #takeLine(line) {
    if (line.startsWith("data:")) {
      this.#data.push(line.slice(line[5] === " " ? 6 : 5));
    } else if (line.startsWith("event:")) {
      this.#event = line.slice(6).trim();
    } else if (line.startsWith("id:")) {
      this.#id = line.slice(3).trim();
    } else if (line === "" && this.#data.length > 0) {
      const [data, event] = [this.#data.join("\n"), this.#event];
      this.#data = [];
      this.#event = "message";
      this.#onData(data, { event, id: this.#id });
    }
  }
}
