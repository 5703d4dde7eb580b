/// What the page shows, held in the address bar, so that every view has a permalink.

/// Every key that an address may hold; others are ignored.
export const kStateKeys = [
  "view",
  "sweep",
  "status",
  "kernel",
  "layout",
  "batch",
  "query_tokens",
  "context",
  "kv_dtype",
  "l2",
  "lengths",
  "ranks",
  "device",
  "model",
  "text",
  "cell",
  "gpus",
  "intensity",
  "sort",
  "page",
  "row",
];

/// "#batch=64&row=ab12" as {batch: "64", row: "ab12"}.
export function stateFromHash(hash) {
  const state = {};
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  for (const key of kStateKeys) {
    const value = parts.get(key);
    if (value) state[key] = value;
  }
  return state;
}

/// The other way; keys in a fixed order, so that equal states have equal addresses.
export function hashOfState(state) {
  const parts = new URLSearchParams();
  for (const key of kStateKeys) if (state[key]) parts.set(key, state[key]);
  return `#${parts}`;
}

/// The state of this window, kept in step with its address.
export class PageState {
  #view;
  #listeners = [];

  constructor(view) {
    this.#view = view;
    view.addEventListener("hashchange", () => this.#tell());
    view.addEventListener("popstate", () => this.#tell());
  }

  get values() {
    return stateFromHash(this.#view.location.hash);
  }

  /// Address of the state with these changes; "" or null takes a key out.
  address(changes) {
    return hashOfState({ ...this.values, ...changes });
  }

  /// Goes there.  A new entry in the history, unless it is only a refinement such as typing.
  change(changes, { refine = false } = {}) {
    const address = this.address(changes);
    if (address === hashOfState(this.values)) return;
    if (refine) this.#view.history.replaceState(null, "", address);
    else this.#view.history.pushState(null, "", address);
    this.#tell();
  }

  listen(listener) {
    this.#listeners.push(listener);
  }

  #tell() {
    for (const listener of this.#listeners) listener(this.values);
  }
}
