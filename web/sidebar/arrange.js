// Puts elements in order without touching those that are in place.

/** Makes `elements` the children of `parent`. What has the focus keeps it, although a moved element loses it. */
export function arrange(parent, elements) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const wanted = new Set(elements);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  elements.forEach((element, index) => {
    if (parent.children[index] !== element) parent.insertBefore(element, parent.children[index] ?? null);
  });
  if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
}
