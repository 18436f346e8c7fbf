// Whether receiving blocks use their full height instead of at most 150 pixels.

const KEY = "flightdeck.fullHeight";
const CLASS = "full-height-streaming";

const root = document.documentElement;
root.classList.toggle(CLASS, kept() === "true");
// Another tab may change it.
addEventListener("storage", ({ key, newValue }) => key === KEY && root.classList.toggle(CLASS, newValue === "true"));

export const fullHeight = {
  get isOn() {
    return root.classList.contains(CLASS);
  },

  toggle() {
    const isOn = root.classList.toggle(CLASS);
    try {
      localStorage.setItem(KEY, String(isOn));
    } catch {
      // Without storage it applies to this page only.
    }
  },
};

function kept() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
