// Jumping far back in a log: the events around the target, the ends of their blocks, and the stretches in between.

/** Numbers of events in one stretch that is loaded later. */
const STRETCH = 400;

const STARTS = new Map([
  ["onStartReasoning", "reasoningId"],
  ["onStartMessage", "messageId"],
  ["onStartToolExecution", "toolCallId"],
  ["onPermissionRequested", "requestId"],
  ["onQuestionAsked", "requestId"],
]);
const ENDS = new Map([
  ["onEndReasoning", "reasoningId"],
  ["onEndMessage", "messageId"],
  ["onEndToolExecution", "toolCallId"],
  ["onPermissionAnswered", "requestId"],
  ["onQuestionAnswered", "requestId"],
]);

/** The numbers between two pages, in stretches: `[[first, last]]`. */
export function stretches(after, before) {
  const found = [];
  for (let first = after + 1; first < before; first += STRETCH) found.push([first, Math.min(first + STRETCH, before) - 1]);
  return found;
}

/**
 * The ends of what begins in these events and does not end there: without them, a request that was answered long ago would
 * wait for an answer. `read(after, limit)` reads the log; nothing from `before` on is needed.
 */
export async function endsOf(events, before, read) {
  const open = new Set();
  note(events, open);
  const ends = [];
  let after = events.at(-1)?.seq ?? before;
  while (open.size > 0 && after < before - 1) {
    const { events: page, next } = await read(after);
    const inside = page.filter(({ seq }) => seq < before);
    for (const event of inside) if (open.delete(endedBy(event))) ends.push(event);
    if (next === undefined || inside.length < page.length) break;
    after = next;
  }
  return ends;
}

function note(events, open) {
  for (const event of events) {
    const { response } = event;
    const idName = STARTS.get(response.callback);
    if (idName) open.add(`${idName} ${response[idName]}`);
    open.delete(endedBy(event));
  }
}

function endedBy({ response }) {
  const idName = ENDS.get(response.callback);
  return idName ? `${idName} ${response[idName]}` : null;
}
