// Our programs as tests start them: with ports and files of their own, ended by their ids.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { madeRows } from "./made_rows.mjs";

const bin = process.env.HEADSPLIT_BIN;

export function program(name) {
  return join(bin, name);
}

/// A folder that is gone after the tests.
export function makeFolder() {
  const path = mkdtempSync(join(tmpdir(), "headsplit-web-"));
  return { path, file: (name) => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) };
}

/// Runs to the end; its output, or an error with all it said.
export function run(name, args, options = {}) {
  const done = spawnSync(program(name), args, { encoding: "utf8", timeout: 200000, ...options });
  if (done.status !== 0) {
    throw new Error(`${name} ${args.join(" ")}: ${done.error ?? done.status}\n${done.stderr}`);
  }
  return done.stdout;
}

/// A database with a sweep of made rows.  change(row): what is different about them.  stored: how
/// many of them are done; the others' points wait.
export function makeDatabase(
  file,
  { count = 768, name = "made-for-tests", change = (row) => row, stored = count } = {},
) {
  const lines = madeRows(count).map((row) => JSON.stringify(change({ ...row, sweep: name })));
  run("web_rows_to_db", [file, name, stored], { input: lines.join("\n"), maxBuffer: 1 << 28 });
}

/// A coordinator on a port of its own, ready: its `url`.  extra: more of its options.
export async function startCoordinator(database, extra = []) {
  const child = start("headsplit-coordinator", ["--listen", "127.0.0.1:0", "--db", database, ...extra]);
  for (let look = 0; look < 400; ++look) {
    const ready = child.printed().match(/listening (\S+)/);
    if (ready) return { url: ready[1], ...child };
    if (child.process.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await child.end();
  throw new Error(`the coordinator does not serve: ${child.said()}`);
}

/// A program in the background; end() stops it and waits.
export function start(name, args) {
  const child = spawn(program(name), args, { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  let said = "";
  child.stdout.on("data", (data) => (printed += data));
  child.stderr.on("data", (data) => (said += data));
  const gone = once(child, "exit");
  return {
    process: child,
    printed: () => printed,
    said: () => said,
    async end() {
      child.kill("SIGTERM");
      const patience = setTimeout(() => child.kill("SIGKILL"), 5000);
      await gone;
      clearTimeout(patience);
    },
  };
}

/// Hands a sweep over, as `headsplit submit` does.
export async function submit(url, text) {
  const reply = await fetch(`${url}/api/sweeps?filename=test.yaml`, { method: "POST", body: text });
  if (!reply.ok) throw new Error(`submit: ${reply.status} ${await reply.text()}`);
  return reply.json();
}
