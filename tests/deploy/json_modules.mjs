// Node 20 imports JSON only where the importer says so, and @actions/workflow-parser does not.

import { register } from "node:module";

const loader = `export async function load(url, context, next) {
  const json = url.endsWith(".json") ? { importAttributes: { type: "json" } } : {};
  return next(url, { ...context, ...json });
}`;
register(`data:text/javascript,${encodeURIComponent(loader)}`);
