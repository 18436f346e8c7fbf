// Calls back when an element comes near the part of the page that can be seen.

const waiting = new WeakMap();

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      const callback = waiting.get(target);
      forget(target);
      callback?.();
    }
  },
  { scrollMargin: "1200px 0px", rootMargin: "1200px 0px" },
);

/** Calls `callback` once, at the latest when the element is seen. */
export function whenNear(element, callback) {
  waiting.set(element, callback);
  observer.observe(element);
}

export function forget(element) {
  waiting.delete(element);
  observer.unobserve(element);
}
