// The page that follows a job, or previews one: its flow chart, and what each of its works does.

import { pageFrame } from "./panels/pageFrame.js";
import { folderInAddress, jobInAddress, modelsInAddress } from "./lib/address.js";
import { byId } from "./lib/dom.js";
import { useWidthBar } from "./lib/widthBar.js";
import { PreviewPage } from "./jobTracking/previewPage.js";
import { TrackingPage } from "./jobTracking/trackingPage.js";

const { jobName, jobId } = jobInAddress();

function open() {
  const page = jobId ? new TrackingPage(jobId, jobName) : new PreviewPage(jobName, folderInAddress(), modelsInAddress());
  pageFrame({ KeyA: () => page.goToRequest() }, jobId);
  useWidthBar("flightdeck.tracking-width");
  byId("right-part").querySelector(".phone-back-btn").addEventListener("click", () => page.view.select(null));
  page.open();
}

if (jobName) open();
else location.replace("/index.html");
