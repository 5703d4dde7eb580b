// Kubernetes objects against the published API: values by its validation, names of fields by its
// types (the API server ignores or refuses fields that it does not know; we want neither).

import { join } from "node:path";
import ts from "typescript";

const kModules = {
  "v1/ConfigMap": "kubernetes-models/v1/ConfigMap",
  "v1/PersistentVolumeClaim": "kubernetes-models/v1/PersistentVolumeClaim",
  "v1/Service": "kubernetes-models/v1/Service",
  "apps/v1/Deployment": "kubernetes-models/apps/v1/Deployment",
  "batch/v1/Job": "kubernetes-models/batch/v1/Job",
  "monitoring.coreos.com/v1/ServiceMonitor":
    "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor",
};

function moduleOf(object) {
  const name = `${object.apiVersion}/${object.kind}`;
  if (!kModules[name]) throw new Error(`no schema for ${name}`);
  return kModules[name];
}

/// What the API's own validation says of an object.
export async function valueFaults(object) {
  const module = await import(moduleOf(object));
  try {
    new module[object.kind](object).validate();
    return [];
  } catch (error) {
    return [`${object.kind} ${object.metadata?.name}: ${error.message}`];
  }
}

/// Fields that the API does not have, and values of a wrong type, of all objects at once.
export function fieldFaults(objects) {
  const lines = objects.flatMap((object, i) => [
    `import type { I${object.kind} as Type${i} } from "${moduleOf(object)}";`,
    `export const object${i}: Type${i} = ${JSON.stringify(object)};`,
  ]);
  const file = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "objects.ts");
  const options = { noEmit: true, skipLibCheck: true, strict: true, types: [], target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  const content = lines.join("\n");
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, content, ts.ScriptTarget.ES2022) : getSourceFile(name, ...rest);
  host.fileExists = (name) => name === file || fileExists(name);
  host.readFile = (name) => (name === file ? content : readFile(name));
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map((one) => ts.flattenDiagnosticMessageText(one.messageText, " "));
}
