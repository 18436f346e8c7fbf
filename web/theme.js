// Runs before the first paint, so that a chosen theme does not flash in the other one first. Not a module for that reason.
try {
  const chosen = localStorage.getItem("flightdeck.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Without a store the system decides.
}
