// The workflows against GitHub's own parser, and the steps that measure and compare, run for real.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import { bin, source, text, yaml } from "./files.mjs";

const workflows = [".github/workflows/ci.yml", "deploy/ci/user-repository.yml"];

function faults(name, content) {
  const parsed = parseWorkflow({ name, content }, new NoOperationTraceWriter());
  return parsed.context.errors.getErrors().map(String);
}

test("workflows keep to GitHub's schema, expressions included", () => {
  for (const path of workflows) assert.deepEqual(faults(path, text(path)), [], path);
});

test("the parser finds planted faults", () => {
  const good = text(workflows[0]);
  assert.match(faults("a", good.replace("runs-on:", "run-on:")).join(), /run-on/);
  assert.match(faults("a", good.replace("${{ github.sha }}", "${{ gitub.sha }}")).join(), /gitub/);
});

test("actions and containers are pinned to a version", () => {
  for (const path of workflows) {
    for (const job of Object.values(yaml(path).jobs)) {
      if (job.container) assert.match(job.container, /:\d+\.\d+/);
      for (const { uses } of job.steps) if (uses) assert.match(uses, /@v\d+/, `${path}: ${uses}`);
    }
  }
});

let folder;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "headsplit-ci-"));
  for (const name of ["configs", ".github"]) symlinkSync(join(source, name), join(folder, name));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/// A step of the project's own sweep job, as a runner would start it.
function runStep(name) {
  const step = yaml(workflows[0]).jobs.sweep.steps.find((one) => one.name === name);
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
    GITHUB_OUTPUT: join(folder, "output") };
  return spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run], { cwd: folder, env, encoding: "utf8" });
}

test("the sweep is measured, and compared with what is stored", () => {
  const sweep = runStep("Sweep");
  assert.equal(sweep.status, 0, sweep.stderr);
  assert.match(sweep.stdout, /tp8/);
  const cpu = runStep("Which CPU this is");
  assert.equal(cpu.status, 0, cpu.stderr);
  assert.match(readFileSync(join(folder, "output"), "utf8"), /^model=[\w-]+\n$/);
  // The stored baseline is of another machine, so its verdict is of no interest here: all points pair.
  runStep("Compare");
  const summary = readFileSync(join(folder, "summary.md"), "utf8");
  assert.match(summary, /6 points/);
});

test("a sweep is no slower than itself, and a regression when it took four times as long", () => {
  copyFileSync(join(folder, "smoke.jsonl"), join(folder, "baseline.jsonl"));
  const same = runStep("Compare");
  assert.equal(same.status, 0, same.stdout + same.stderr);
  const faster = rowsOf("smoke.jsonl").map((row) => ({ ...row, samples_us: row.samples_us.map((one) => one / 4), time_us: row.time_us / 4 }));
  writeFileSync(join(folder, "baseline.jsonl"), faster.map((row) => JSON.stringify(row)).join("\n") + "\n");
  const slower = runStep("Compare");
  assert.equal(slower.status, 1, slower.stdout + slower.stderr);
});

function rowsOf(name) {
  return readFileSync(join(folder, name), "utf8").trim().split("\n").map((line) => JSON.parse(line));
}
