/// Server-sent events over fetch: unlike EventSource it can carry a token.

const kSilence_ms = 30000;
const kPause_ms = 1500;

/// Calls take(name, data) for each event and told(isOpen) when the stream opens or ends; connects
/// again for ever.
export async function followEvents(api, path, take, told) {
  for (;;) {
    const patience = new Patience(kSilence_ms);
    try {
      const reply = await api.get(path, { signal: patience.signal });
      told(true);
      for await (const { name, data } of eventsOf(reply.body, () => patience.renew())) {
        take(name, JSON.parse(data));
      }
    } catch (fault) {
      console.warn("the stream of events ended:", fault.message);
    }
    patience.end();
    told(false);
    await new Promise((resolve) => setTimeout(resolve, kPause_ms));
  }
}

/// Gives up when nothing was heard for a while; the server says something every few seconds.
class Patience {
  #controller = new AbortController();
  #limit_ms;
  #timer;

  constructor(limit_ms) {
    this.#limit_ms = limit_ms;
    this.renew();
  }

  get signal() {
    return this.#controller.signal;
  }

  renew() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(new Error("silence")), this.#limit_ms);
  }

  end() {
    clearTimeout(this.#timer);
  }
}

/// Events of a byte stream: {name, data}.  onheard: called for everything that arrives.
export async function* eventsOf(body, onheard = () => {}) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onheard();
    const parts = (text + value).split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      const event = eventOf(part);
      if (event.data !== "") yield event;
    }
  }
}

/// One event from its lines; comments (": ...") and other fields do not count.
function eventOf(part) {
  const event = { name: "message", data: "" };
  for (const line of part.split("\n")) {
    if (line.startsWith("event: ")) event.name = line.slice(7);
    if (line.startsWith("data: ")) event.data += line.slice(6);
  }
  return event;
}
