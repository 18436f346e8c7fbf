// The page that follows a job, or previews one: its flow chart, and what each of its works does.

import { pageFrame } from "./panels/pageFrame.js";
import { byId } from "./lib/dom.js";
import { useWidthBar } from "./lib/widthBar.js";
import { PreviewPage } from "./jobTracking/previewPage.js";
import { TrackingPage } from "./jobTracking/trackingPage.js";

const query = new URLSearchParams(location.search);
const [jobName, jobId, folder] = ["jobName", "jobId", "wb"].map((name) => query.get(name));

/** Models by category that the preview was opened with. */
function models() {
  try {
    return JSON.parse(query.get("models")) ?? undefined;
  } catch {
    return undefined;
  }
}

function open() {
  const page = jobId ? new TrackingPage(jobId, jobName) : new PreviewPage(jobName, folder, models());
  pageFrame({ KeyA: () => page.goToRequest() }, jobId);
  useWidthBar("flightdeck.tracking-width");
  byId("right-part").querySelector(".phone-back-btn").addEventListener("click", () => page.view.select(null));
  page.open();
}

if (jobName) open();
else location.replace("/index.html");
