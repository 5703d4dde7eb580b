/// Requests to the coordinator, with the token where it asks for one.

import { element } from "./dom.js";

const kKey = "headsplit-token";

export class Api {
  #token = sessionStorage.getItem(kKey) ?? "";
  #asking = null;

  get hasToken() {
    return this.#token !== "";
  }

  /// An answer of 2xx; anything else is an error that says what was asked and what came back.
  async get(path, options = {}) {
    const headers = this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
    const reply = await fetch(path, { ...options, headers });
    if (reply.ok) return reply;
    if (reply.status === 401) {
      this.#asking ??= askToken().finally(() => (this.#asking = null));
      this.#token = await this.#asking;
      sessionStorage.setItem(kKey, this.#token);
      return this.get(path, options);
    }
    throw new Error(`${path}: ${reply.status} ${(await reply.text()).slice(0, 200)}`);
  }

  async json(path) {
    return (await this.get(path)).json();
  }
}

/// A dialog that does not go away without an answer.
function askToken() {
  const field = element("input", { type: "password", "aria-label": "Token", autocomplete: "off" });
  const form = element(
    "form",
    { method: "dialog" },
    element("p", {}, "This coordinator wants its token (--token of the command that started it)."),
    field,
    " ",
    element("button", {}, "Go on"),
  );
  const dialog = element("dialog", { "aria-label": "Token" }, form);
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(field.value.trim());
    });
  });
}
