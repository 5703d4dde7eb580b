// Says what the browser tests lack; fails when there is something.

import { missing } from "./browser.mjs";

for (const one of missing()) console.log(`skipped: no ${one}`);
process.exitCode = missing().length > 0 ? 1 : 0;
