/// Entry: a report carries its data, the live page asks the coordinator.

import { Page } from "./page.js";
import { LiveSource } from "./source_live.js";
import { ReportSource } from "./source_report.js";

const carried = document.getElementById("headsplit-data");
const source = carried ? new ReportSource(JSON.parse(carried.textContent)) : new LiveSource();
new Page(source).start();
