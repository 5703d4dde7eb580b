// Dockerfiles taken apart: what the last stage, or one by its name, tells a container.

import { text } from "./files.mjs";

/// [{ name, args }] of a Dockerfile, continued lines joined, comments left out.
export function instructions(path) {
  const lines = text(path).split("\n").filter((line) => !/^\s*#/.test(line));
  return lines
    .join("\n")
    .replace(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name, args] = line.match(/^(\w+)\s+(.*)$/);
      return { name, args: args.trim() };
    });
}

/// [{ name, base, instructions }], and the ARGs before the first FROM.
export function stages(path) {
  const found = [];
  const args = {};
  for (const instruction of instructions(path)) {
    if (instruction.name === "FROM") {
      const [, base, name] = instruction.args.match(/^(\S+)(?:\s+AS\s+(\S+))?$/i);
      found.push({ name, base, instructions: [] });
    } else if (found.length === 0) {
      const [key, value] = instruction.args.split("=");
      args[key] = value;
    } else {
      found.at(-1).instructions.push(instruction);
    }
  }
  return { stages: found, args };
}

/// What a container of that stage starts with: entrypoint, command, environment, user, healthcheck.
export function image(path, target) {
  const all = stages(path).stages;
  const chain = [];
  for (let name = target; name !== undefined; ) {
    const stage = all.find((one) => one.name === name);
    if (!stage) break; // an image of somebody else
    chain.unshift(stage);
    name = stage.base;
  }
  const config = { environment: {}, labels: {}, user: "root" };
  for (const { name, args } of chain.flatMap((stage) => stage.instructions)) {
    const list = () => JSON.parse(args);
    const pairs = () => [...args.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)].map(([, k, v]) => [k, v.replaceAll('"', "")]);
    if (name === "ENTRYPOINT") config.entrypoint = list();
    if (name === "CMD") config.command = list();
    if (name === "USER") config.user = args;
    if (name === "ENV") Object.assign(config.environment, Object.fromEntries(pairs()));
    if (name === "LABEL") Object.assign(config.labels, Object.fromEntries(pairs()));
    if (name === "HEALTHCHECK") config.healthcheck = args.replace(/^.*?CMD\s+/, "");
  }
  return config;
}
