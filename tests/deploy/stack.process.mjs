// docker/compose.yaml, run for real: its commands, environment, volumes, users and health checks.
// Grafana alone is left out: no package of Debian's has it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { compose } from "./compose.mjs";
import { Stack, wait } from "./stack.mjs";

const stack = new Stack(
  compose(["compose.yaml"], { HEADSPLIT_SWEEP: "/opt/headsplit/share/headsplit/configs/sweeps/smoke.yaml" }),
);

before(async () => {
  for (const name of ["prometheus", "agent-0", "agent-1", "sweep"]) await stack.start(name);
});
after(async () => {
  await stack.stop();
  stack.remove();
});

async function query(expression) {
  const url = `http://127.0.0.1:9090/api/v1/query?query=${encodeURIComponent(expression)}`;
  const reply = await fetch(url);
  assert.equal(reply.status, 200, await reply.clone().text());
  return (await reply.json()).data.result;
}

/// Until Prometheus has an answer to each; those it has none for.
async function withoutData(expressions, limit_s = 25) {
  const missing = new Set(expressions);
  for (const end = Date.now() + limit_s * 1000; missing.size > 0 && Date.now() < end; await wait(300)) {
    for (const one of [...missing]) if ((await query(one)).length > 0) missing.delete(one);
  }
  return [...missing];
}

test("both agents pass their health checks, and the sweep ends with its table", async () => {
  await stack.healthy("agent-0");
  await stack.healthy("agent-1");
  await stack.completed("sweep");
  assert.match(stack.running.get("sweep").output, /tp8/);
});

test("Prometheus, which needs the token, has the series of the sweep and of both agents", async () => {
  const expected = [
    'up{job="headsplit"} == 1',
    'headsplit_rows_total{status="ok"} == 6',
    'headsplit_points{state="ok"} == 6',
    'headsplit_layout_reuse_retained_ratio{tp="8"}',
    'count(headsplit_agent_info) == 2',
    'headsplit_agent_info{agent="agent-0-0"}',
    'headsplit_agent_info{agent="agent-1-0"}',
  ];
  assert.deepEqual(await withoutData(expected), []);
});

test("Prometheus evaluates the rules of dashboards/ that the file mounts", async () => {
  const reply = await fetch("http://127.0.0.1:9090/api/v1/rules");
  const rules = (await reply.json()).data.groups.flatMap((group) => group.rules);
  assert.ok(rules.length > 20, `${rules.length} rules`);
  for (const rule of rules) assert.notEqual(rule.health, "err", rule.lastError);
});

test("nobody without the token gets an answer", async () => {
  assert.equal((await fetch("http://127.0.0.1:7077/healthz")).status, 200);
  assert.equal((await fetch("http://127.0.0.1:7077/api/sweeps")).status, 401);
  const token = stack.read("token", "token").trim();
  const headers = { Authorization: `Bearer ${token}` };
  assert.equal((await fetch("http://127.0.0.1:7077/api/sweeps", { headers })).status, 200);
});

test("a service runs as nobody in particular and cannot write to its image", () => {
  const who = stack.run("coordinator", ["sh", "-c", "id -u; touch /opt/headsplit/mine; touch /data/mine && echo wrote"]);
  assert.match(who.stdout, /^10001\nwrote\n$/);
  assert.match(who.stderr, /Read-only file system|Permission denied/);
});

test("every service ends when it is asked to", async () => {
  const codes = await stack.stop();
  assert.deepEqual(codes, { coordinator: 0, prometheus: 0, "agent-0": 0, "agent-1": 0 });
});
