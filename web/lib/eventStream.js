// Server-sent events over fetch. The browser's own EventSource cannot send the header that requests for data need.

import { openStream } from "./api.js";

/**
 * Reads a stream until it ends or `signal` aborts. `onOpen()` is called once it is there, `onData(text)` with the data
 * of each event. Resolves at the end of the stream and rejects with a `Problem` when it cannot be opened or breaks off.
 */
export async function readEvents(path, { onOpen, onData, signal }) {
  const reader = (await openStream(path, { signal })).pipeThrough(new TextDecoderStream()).getReader();
  onOpen();
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
    } else if (line === "" && this.#data.length > 0) {
      const data = this.#data.join("\n");
      this.#data = [];
      this.#onData(data);
    }
  }
}
