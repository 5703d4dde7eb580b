// The services of a compose file as processes of this machine, in the order and under the conditions
// that the file asks for.  Meant for a network namespace of its own: every service is on loopback.

import { spawn, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { imageOf } from "./compose.mjs";
import { bin, source } from "./files.mjs";

const kContainer = join(dirname(fileURLToPath(import.meta.url)), "container.sh");
const kUsers = { root: "0", headsplit: "10001" };

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));

export class Stack {
  /// file: a compose file with its variables put in.
  constructor(file) {
    this.file = file;
    this.folder = mkdtempSync(join(tmpdir(), "headsplit-stack-"));
    this.running = new Map();
    this.owners = this.volumeOwners();
    const hosts = Object.keys(file.services).map((name) => `127.0.0.1 ${name}`);
    writeFileSync(join(this.folder, "hosts"), ["127.0.0.1 localhost", ...hosts, ""].join("\n"));
  }

  /// A new volume belongs to the user of the first service that may write to it, as its image's folder does.
  volumeOwners() {
    const owners = {};
    for (const service of Object.values(this.file.services)) {
      for (const volume of service.volumes ?? []) {
        const [from, , mode] = volume.split(":");
        if (mode !== "ro") owners[from] ??= Number(this.user(service));
      }
    }
    return owners;
  }

  user(service) {
    const name = service.user?.split(":")[0] ?? imageOf(service).user;
    return kUsers[name] ?? name;
  }

  mounts(name, service) {
    const lines = [`bind ${join(this.folder, "hosts")} /etc/hosts ro`];
    if (service.build) {
      lines.push(`bind ${bin} /opt/headsplit/bin ro`);
      lines.push(`bind ${join(source, "configs")} /opt/headsplit/share/headsplit/configs ro`);
    }
    for (const volume of service.volumes ?? []) {
      const [from, to, mode] = volume.split(":");
      const path = from.startsWith(".") ? resolve(source, "docker", from) : this.volume(from);
      lines.push(`bind ${path} ${to} ${mode ?? "rw"}`);
    }
    for (const path of service.tmpfs ?? []) lines.push(`tmpfs ${path}`);
    const list = join(this.folder, `${name}.mounts`);
    writeFileSync(list, lines.join("\n") + "\n");
    return list;
  }

  volume(name) {
    const path = join(this.folder, "volumes", name);
    if (mkdirSync(path, { recursive: true })) chownSync(path, this.owners[name], this.owners[name]);
    return path;
  }

  /// Arguments of container.sh for a command in the place of that service.
  arguments(name, command) {
    const service = this.file.services[name];
    const root = join(this.folder, "roots", name);
    mkdirSync(root, { recursive: true });
    const environment = { ...imageOf(service).environment, ...service.environment };
    const assignments = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
    const processors = service.cpuset ?? `0-${cpus().length - 1}`;
    return [
      "--mount", "--uts", kContainer, root, service.hostname ?? name, this.user(service), processors,
      service.read_only ? "yes" : "no", this.mounts(name, service), "--",
      "env", "-i", ...assignments, ...command,
    ];
  }

  /// Starts a service once what it depends on is there.
  async start(name) {
    if (this.running.has(name)) return this.running.get(name);
    const service = this.file.services[name];
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      await this.start(other);
      if (condition === "service_healthy") await this.healthy(other);
      if (condition === "service_completed_successfully") await this.completed(other);
    }
    const config = imageOf(service);
    const entrypoint = service.entrypoint ?? config.entrypoint;
    const command = service.command ?? (service.entrypoint ? [] : (config.command ?? []));
    const child = spawn("unshare", this.arguments(name, [...entrypoint, ...command]), {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const state = { child, output: "", exit: new Promise((done) => child.on("exit", (code) => done(code))) };
    child.stdout.on("data", (data) => (state.output += data));
    child.stderr.on("data", (data) => (state.output += data));
    this.running.set(name, state);
    return state;
  }

  /// Exit status and output of a command beside a service.
  run(name, command) {
    return spawnSync("unshare", this.arguments(name, command), { encoding: "utf8", timeout: 20000 });
  }

  /// The health check of the file, or of the image, until it passes.
  async healthy(name) {
    const service = this.file.services[name];
    const test = service.healthcheck?.test ?? imageOf(service).healthcheck;
    const command = Array.isArray(test)
      ? test[0] === "CMD-SHELL" ? ["sh", "-c", test[1]] : test.slice(1)
      : test.startsWith("[") ? JSON.parse(test) : ["sh", "-c", test];
    let last;
    for (let look = 0; look < 100; ++look) {
      last = this.run(name, command);
      if (last.status === 0) return;
      if (this.running.get(name)?.child.exitCode != null) break;
      await wait(100);
    }
    throw new Error(`${name} is not healthy: ${last.stdout}${last.stderr}\n${this.running.get(name)?.output}`);
  }

  async completed(name) {
    const state = this.running.get(name);
    const code = await state.exit;
    if (code !== 0) throw new Error(`${name} ended with ${code}: ${state.output}`);
  }

  /// Ends everything and gives the exit status of each service that was still running.
  async stop() {
    const alive = [...this.running].filter(([, { child }]) => child.exitCode === null && !child.signalCode);
    for (const [, { child }] of alive) child.kill("SIGTERM");
    const limit = setTimeout(() => alive.forEach(([, { child }]) => child.kill("SIGKILL")), 15000);
    const codes = {};
    for (const [name, { exit }] of alive) codes[name] = await exit;
    clearTimeout(limit);
    return codes;
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /// A file of a volume.
  read(volume, name) {
    return readFileSync(join(this.folder, "volumes", volume, name), "utf8");
  }
}
