// Agents that exist only as connections, spoken for by a page of the coordinator's own origin: many
// of them cost one browser tab.

const kPeriod_ms = 1000;

/// Connects `count` agents.  Each speaks every second, and ends each point that it is given a second
/// later with the row that `rows` has for it.
export function connectAgents(page, count, rows = []) {
  return page.evaluate(speak, { count, rows, period_ms: kPeriod_ms });
}

/// Runs in the page, so it sees nothing of this file.
function speak({ count, rows, period_ms }) {
  const rowOf = new Map(rows.map((row) => [row.point_id, row]));
  const infoOf = (i) => ({
    name: `agent-${i}`,
    node: `node-${i % 8}`,
    backend: "cuda",
    device: "made for tests",
    memory_bytes: 140e9,
    process_id: i,
  });
  const connect = (i) => {
    const socket = new WebSocket(`ws://${location.host}/agent`);
    const send = (message) => socket.send(JSON.stringify(message));
    const answer = ({ kind, lease }) => {
      const row = kind === "grant" ? rowOf.get(lease.point_id) : undefined;
      if (row === undefined) return;
      const { epoch, sweep } = lease;
      setTimeout(() => send({ kind: "report", row: { ...row, epoch, sweep } }), period_ms);
    };
    socket.onmessage = (event) => answer(JSON.parse(event.data));
    socket.onopen = () => {
      send({ kind: "hello", protocol_major: 1, protocol_minor: 0, agent: infoOf(i) });
      setInterval(() => {
        const power_w = 400 + Math.round(100 * Math.random());
        send({ kind: "heartbeat", working_on: "", power_w, sm_clock_mhz: 1700 + i });
      }, period_ms);
    };
  };
  for (let i = 0; i < count; ++i) connect(i);
}
