// What the Dockerfiles promise: bases by argument, labels, no root, health checks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { image, instructions, stages } from "./dockerfile.mjs";
import { text } from "./files.mjs";

const images = [
  ["docker/Dockerfile", "coordinator"],
  ["docker/Dockerfile", "cpu"],
  ["docker/agent.Dockerfile", "agent"],
];

test("every stage stands on an argument of a pinned version, or on another stage", () => {
  for (const [path] of images) {
    const { stages: all, args } = stages(path);
    for (const { base } of all) {
      if (all.some((stage) => stage.name === base)) continue;
      const name = base.match(/^\$\{(\w+)\}$/)?.[1];
      assert.ok(name, `${path}: FROM ${base}`);
      assert.match(args[name], /^[\w./-]+:\d+(\.\d+)+-[\w.-]+$/, `${path}: ARG ${name}`);
    }
  }
});

test("images say version, revision and licence, have a health check, and are nobody's root", () => {
  const version = text("CMakeLists.txt").match(/project\(headsplit VERSION (\S+)/)[1];
  for (const [path, target] of images) {
    const { labels, user, healthcheck, entrypoint } = image(path, target);
    for (const label of ["title", "licenses", "version", "revision"]) {
      assert.ok(labels[`org.opencontainers.image.${label}`], `${target}: ${label}`);
    }
    assert.equal(user, "headsplit", target);
    assert.ok(healthcheck, target);
    assert.match(entrypoint[0], /^headsplit/);
    const told = instructions(path).filter(({ name, args }) => name === "ARG" && args.startsWith("VERSION="));
    for (const { args } of told) assert.equal(args, `VERSION=${version}`, path);
  }
});

test("the coordinator's image has neither an agent nor CUDA in it", () => {
  const stage = stages("docker/Dockerfile").stages.find(({ name }) => name === "coordinator");
  const copied = stage.instructions.filter(({ name }) => name === "COPY").map(({ args }) => args).join(" ");
  assert.doesNotMatch(copied, /headsplit-agent|\/opt\/headsplit \/|cuda/);
  assert.match(text("docker/Dockerfile"), /install \/opt\/headsplit cpu-only/);
});

test("what is built from holds no repository, build or evidence", () => {
  const ignored = text(".dockerignore").split("\n");
  for (const path of [".git", "build", "evidence", "**/node_modules"]) assert.ok(ignored.includes(path), path);
});
