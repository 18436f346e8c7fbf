// The page on which a job is chosen for the folder that the address names.

import { pageFrame } from "./panels/pageFrame.js";
import { folderInAddress } from "./lib/address.js";
import { byId } from "./lib/dom.js";
import { exactNodes, exactString } from "./lib/exactText.js";
import { shortPath } from "./lib/format.js";
import { setSubject } from "./lib/pageTitle.js";
import { useWidthBar } from "./lib/widthBar.js";
import { Entry } from "./jobs/entry.js";
import { JobStart } from "./jobs/jobStart.js";
import { Matrix } from "./jobs/matrix.js";
import { Models } from "./jobs/models.js";
import { useStopButton } from "./jobs/stopButton.js";

const folder = folderInAddress();

function open() {
  byId("page-folder").replaceChildren(...exactNodes(shortPath(folder, 64), { oneLine: true }));
  byId("page-folder").title = exactString(folder);
  setSubject("Jobs");
  const matrix = new Matrix(folder);
  const models = new Models();
  const start = new JobStart(folder, models);
  const entry = new Entry(folder);
  matrix.onSelect = (job) => start.setJob(job);
  entry.onChange = (inForce) => {
    models.setEntry(inForce?.entry);
    if (inForce === null) matrix.clear();
    else matrix.load();
  };
  pageFrame({ KeyP: () => byId("preview-button").click() });
  useWidthBar("flightdeck.jobs-width");
  useStopButton();
  entry.load();
}

if (folder) open();
else location.replace("/index.html");
