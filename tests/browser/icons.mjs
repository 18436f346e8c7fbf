// Draws the icons of the installed app (web/icons/*.png) from the sign in web/favicon.svg.

import { writeFile } from "node:fs/promises";
import path from "node:path";
import { launchChromium } from "./support/index.mjs";

const FOLDER = path.resolve(import.meta.dirname, "../../web/icons");
/** The sign, in a field of 16 × 16. */
const SIGN = "M3 10.5 13 4l-3.2 8-2.3-2.6z";
const BLUE = "#24598f";

/** `part` is how much of the picture the sign's field takes; platforms cut the corners off pictures that fill it. */
function picture({ background, radius = 0, part = 1, colour = "#fff" }) {
  const shift = 8 - 8 * part;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${background ? `<rect width="16" height="16" rx="${radius}" fill="${background}"/>` : ""}<path transform="translate(${shift} ${shift}) scale(${part})" d="${SIGN}" fill="${colour}"/></svg>`;
}

const PICTURES = [
  ["app-192.png", 192, { background: BLUE, radius: 3 }],
  ["app-512.png", 512, { background: BLUE, radius: 3 }],
  ["maskable-192.png", 192, { background: BLUE, part: 0.8 }],
  ["maskable-512.png", 512, { background: BLUE, part: 0.8 }],
  // Cut to its own shape by the system.
  ["touch-180.png", 180, { background: BLUE, part: 0.9 }],
  // Only its shape counts: what is not transparent is drawn in one colour.
  ["badge-96.png", 96, { background: null, part: 1.3 }],
];

const browser = await launchChromium();
const page = await browser.newPage();
for (const [name, size, how] of PICTURES) {
  const data = await page.evaluate(
    async ({ svg, size }) => {
      const image = new Image();
      image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
      await image.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size });
      canvas.getContext("2d").drawImage(image, 0, 0, size, size);
      return canvas.toDataURL("image/png");
    },
    { svg: picture(how), size },
  );
  await writeFile(path.join(FOLDER, name), Buffer.from(data.split(",")[1], "base64"));
}
await browser.close();
