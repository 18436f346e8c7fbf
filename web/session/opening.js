/** Dispatched on a block that the reader is about to open, close or show in its other form: it stays where it is. */
export const OPENING = "opening";
