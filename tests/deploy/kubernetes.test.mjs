// The manifests against the Kubernetes API, and against each other and the images.

import assert from "node:assert/strict";
import { test } from "node:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { source, yaml, yamlDocuments, yamlText } from "./files.mjs";
import { fieldFaults, valueFaults } from "./kubernetes.mjs";
import { merged } from "./compose.mjs";

const folder = "deploy/kubernetes";
const objects = ["coordinator", "agents", "sweep", "monitor"].flatMap((name) => yamlDocuments(`${folder}/${name}.yaml`));
const named = (kind, name) => objects.find((one) => one.kind === kind && one.metadata.name === name);
const pods = objects.filter(({ spec }) => spec?.template).map(({ spec }) => spec.template);

/// The profiling overlay's patch on the agents' Job: mappings merge, containers by their name.
function profiled() {
  const job = structuredClone(named("Job", "headsplit-agents"));
  const patch = yamlText(yaml(`${folder}/profiling/kustomization.yaml`).patches[0].patch);
  const [container] = job.spec.template.spec.containers;
  const [change] = patch.spec.template.spec.containers;
  assert.equal(change.name, container.name);
  const containers = [{ ...merged(container, change), securityContext: { ...container.securityContext, ...change.securityContext } }];
  const { containers: ignored, ...spec } = patch.spec.template.spec;
  job.spec.template.spec = { ...merged(job.spec.template.spec, spec), containers };
  return job;
}

test("every object keeps to the API, and has no field that the API lacks", async () => {
  const all = [...objects, profiled()];
  assert.equal(all.length, 8);
  for (const object of all) assert.deepEqual(await valueFaults(object), []);
  assert.deepEqual(fieldFaults(all), []);
});

test("both checks find planted faults", async () => {
  const wrong = structuredClone(named("Deployment", "headsplit-coordinator"));
  wrong.spec.replicas = "one";
  assert.match((await valueFaults(wrong)).join(), /replicas must be integer/);
  const unknown = structuredClone(named("Job", "headsplit-agents"));
  unknown.spec.template.spec.containers[0].imagePolicy = "Always";
  unknown.spec.parallel = 2;
  const faults = fieldFaults([unknown]).join("\n");
  assert.match(faults, /imagePolicy|parallel/);
});

test("services, monitors, claims and secrets find what they name", () => {
  const labels = named("Deployment", "headsplit-coordinator").spec.template.metadata.labels;
  const service = named("Service", "headsplit-coordinator");
  for (const selector of [service.spec.selector, named("Deployment", "headsplit-coordinator").spec.selector.matchLabels]) {
    for (const [key, value] of Object.entries(selector)) assert.equal(labels[key], value);
  }
  const monitor = named("ServiceMonitor", "headsplit").spec;
  for (const [key, value] of Object.entries(monitor.selector.matchLabels)) assert.equal(service.metadata.labels[key], value);
  assert.equal(monitor.endpoints[0].port, service.spec.ports[0].name);
  for (const { spec } of pods) {
    const volumes = spec.volumes.map(({ name }) => name);
    for (const container of spec.containers) {
      for (const { name } of container.volumeMounts) assert.ok(volumes.includes(name), name);
      const url = container.env?.find(({ name }) => name === "HEADSPLIT_COORDINATOR")?.value;
      if (url) assert.equal(url, `http://${service.metadata.name}:${service.spec.ports[0].port}`);
    }
    for (const { persistentVolumeClaim: claim, configMap: map, secret } of spec.volumes) {
      if (claim) assert.ok(named("PersistentVolumeClaim", claim.claimName));
      if (map) assert.ok(named("ConfigMap", map.name));
      if (secret) assert.equal(secret.secretName, monitor.endpoints[0].authorization.credentials.name);
    }
  }
});

test("only the profiling overlay gives a pod rights", () => {
  for (const { spec } of pods) {
    assert.equal(spec.securityContext.runAsNonRoot, true);
    for (const { securityContext } of spec.containers) {
      assert.equal(securityContext.allowPrivilegeEscalation, false);
      assert.deepEqual(securityContext.capabilities, { drop: ["ALL"] });
    }
  }
  const { spec } = profiled().spec.template;
  assert.equal(spec.securityContext.runAsUser, 0);
  assert.deepEqual(spec.containers[0].securityContext.capabilities.add, ["SYS_ADMIN"]);
  assert.ok(spec.containers[0].env.some(({ name }) => name === "HEADSPLIT_COORDINATOR"));
});

test("images are pinned, and the kustomization names files that are there", () => {
  const kustomization = yaml(`${folder}/kustomization.yaml`);
  for (const file of kustomization.resources) assert.ok(existsSync(join(source, folder, file)), file);
  for (const { spec } of pods) {
    for (const { image } of spec.containers) {
      const [name, tag] = image.split(":");
      assert.equal(kustomization.images.find((one) => one.name === name)?.newTag, tag, image);
    }
  }
});
