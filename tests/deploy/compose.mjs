// Compose files as `docker compose config` sees them: overlays merged, variables put in.

import { image } from "./dockerfile.mjs";
import { yaml } from "./files.mjs";

/// ${NAME:-value}, ${NAME} and $$ in every text of a value.
export function interpolated(value, variables) {
  if (typeof value === "string") {
    return value.replace(/\$\$|\$\{(\w+)(?::-([^}]*))?\}/g, (all, name, otherwise) =>
      all === "$$" ? "$" : variables[name] || (otherwise ?? ""),
    );
  }
  if (Array.isArray(value)) return value.map((one) => interpolated(one, variables));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, interpolated(one, variables)]));
}

const kReplaced = new Set(["command", "entrypoint", "test"]);

/// Later files add to mappings and lists and replace the rest.
export function merged(below, above) {
  const result = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const old = result[key];
    if (Array.isArray(old) && Array.isArray(value) && !kReplaced.has(key)) result[key] = [...old, ...value];
    else if (isMapping(old) && isMapping(value)) result[key] = merged(old, value);
    else result[key] = value;
  }
  return result;
}

function isMapping(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

export function compose(names, variables = {}) {
  const files = names.map((name) => yaml(`docker/${name}`));
  return interpolated(files.reduce(merged), variables);
}

/// What images of others start with, as their own Dockerfiles say.
const kOthers = {
  "prom/prometheus": { entrypoint: ["/bin/prometheus"], environment: {}, user: "65534" },
  "grafana/grafana": { entrypoint: ["/run.sh"], environment: {}, user: "472" },
};

/// What a service's image says of itself.
export function imageOf(service) {
  if (service.build) return image(service.build.dockerfile, service.build.target ?? "agent");
  return kOthers[service.image.split(":")[0]];
}
