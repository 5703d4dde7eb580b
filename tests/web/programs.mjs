// Our programs as tests start them: with ports and files of their own, ended by their ids.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
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
  const done = spawnSync(program(name), args, { encoding: "utf8", timeout: 50000, ...options });
  if (done.status !== 0) {
    throw new Error(`${name} ${args.join(" ")}: ${done.error ?? done.status}\n${done.stderr}`);
  }
  return done.stdout;
}

/// A database with a finished sweep of made rows.  change(row): what is different about them.
export function makeDatabase(file, { count = 768, name = "made-for-tests", change = (row) => row } = {}) {
  const lines = madeRows(count).map((row) => JSON.stringify(change({ ...row, sweep: name })));
  run("web_rows_to_db", [file, name], { input: lines.join("\n"), maxBuffer: 1 << 28 });
}

async function freePort() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/// A coordinator on a free port, answering.
export async function startCoordinator(database) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = start("headsplit-coordinator", ["--listen", `127.0.0.1:${port}`, "--db", database]);
  for (let look = 0; look < 200; ++look) {
    if (child.process.exitCode !== null) throw new Error(`the coordinator ended: ${child.said()}`);
    const reply = await fetch(`${url}/api/sweeps`).catch(() => null);
    if (reply?.ok) return { url, port, ...child };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await child.end();
  throw new Error(`the coordinator does not answer: ${child.said()}`);
}

/// A program in the background; end() stops it and waits.
export function start(name, args) {
  const child = spawn(program(name), args, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (data) => (said += data));
  const gone = once(child, "exit");
  return {
    process: child,
    said: () => said,
    async end() {
      child.kill("SIGTERM");
      const patience = setTimeout(() => child.kill("SIGKILL"), 5000);
      await gone;
      clearTimeout(patience);
    },
  };
}

export function writeSweep(file, text) {
  writeFileSync(file, text);
  return file;
}
