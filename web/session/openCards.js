// Open cards on the page: requests of agents, and what jobs wait for. One that the page moves takes no answer for a moment,
// because the person was aiming at something else.

const elements = document.getElementsByClassName("request-block waiting");
const cards = new WeakMap();

export function addOpenCard(card) {
  cards.set(card.divElement, card);
}

/**
 * Holds the cards in an element that are not where they were. Call it after a change of the layout; `scrolled` is how far the
 * page itself scrolled them.
 */
export function holdMovedCards(within, scrolled = 0) {
  for (const element of elements) if (within.contains(element)) cards.get(element)?.holdIfMoved(scrolled);
}

/** How far an element is from the top of everything that it is scrolled in, so that the reader's scrolling makes no difference. */
export function placeOf(element) {
  let place = element.getBoundingClientRect().top;
  for (let around = element.parentElement; around; around = around.parentElement) place += around.scrollTop;
  return place;
}
