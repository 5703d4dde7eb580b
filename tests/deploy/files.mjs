// Files of the repository, and where the programs are.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, parseAllDocuments } from "yaml";

export const source = process.env.HEADSPLIT_SOURCE ?? join(dirname(fileURLToPath(import.meta.url)), "../..");
export const bin = process.env.HEADSPLIT_BIN ?? join(source, "build/release/bin");

export function text(path) {
  return readFileSync(join(source, path), "utf8");
}

/// Every document of a YAML file, `<<` merged; throws with the line of what is no YAML.
export function yamlDocuments(path) {
  return parseAllDocuments(text(path), { merge: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors[0].message}`);
    return document.toJS();
  });
}

export function yaml(path) {
  return yamlDocuments(path)[0];
}

/// A value written as YAML inside another file.
export const yamlText = (content) => parse(content);
