// The prompts that wait, as they follow from the session's events.

const TURN = /^turn-([1-9]\d*)(?:\.\d+)?$/;

/** The prompt that a turn is about, by the turn's id; null for work outside any prompt's turn. */
export function promptOfTurn(turnId) {
  const number = TURN.exec(turnId ?? "")?.[1];
  return number ? `prompt-${number}` : null;
}

/** The turn that a prompt begins. */
export function turnOfPrompt(promptId) {
  return promptId.replace(/^prompt-/, "turn-");
}

/** The queue (`[{ promptId, text, attachments, changeable }]`) after an event; the same array if nothing changes. */
export function queueAfter(queue, { callback, ...data }) {
  const isKnown = (promptId) => queue.some((prompt) => prompt.promptId === promptId);
  if (callback === "onUserPrompt" || (callback === "onGeneratedUserPrompt" && data.promptId)) {
    if (!data.queued || isKnown(data.promptId)) return queue;
    return [...queue, { promptId: data.promptId, text: data.text ?? data.prompt, attachments: data.attachments ?? [], changeable: true }];
  }
  if (callback === "onPromptChanged") return queue.map((prompt) => (prompt.promptId === data.promptId ? { ...prompt, text: data.text } : prompt));
  if (callback === "onQueueReordered") return reordered(queue, data.promptIds);
  const gone = callback === "onPromptCancelled" ? data.promptId : callback === "onAgentStart" ? promptOfTurn(data.turnId) : null;
  return gone && isKnown(gone) ? queue.filter((prompt) => prompt.promptId !== gone) : queue;
}

/** Prompts that the order does not name keep their places. */
function reordered(queue, order) {
  const places = queue.map(({ promptId }) => promptId).filter((promptId) => order.includes(promptId));
  const moved = new Map(places.map((promptId, index) => [promptId, order.filter((one) => places.includes(one))[index]]));
  const byId = new Map(queue.map((prompt) => [prompt.promptId, prompt]));
  return queue.map((prompt) => byId.get(moved.get(prompt.promptId) ?? prompt.promptId));
}
