/// Files to take away.

import { element } from "./dom.js";

/// A link that saves a file: from an address (`href`), or from content made when it is asked for
/// (`make()` gives a Blob,
/// at once or later).
export function downloadLink({ text, href, make, file }) {
  if (href !== undefined) return element("a", { class: "button", href, download: file }, text);
  const save = async () => {
    const address = URL.createObjectURL(await make());
    const link = element("a", { href: address, download: file });
    link.click();
    URL.revokeObjectURL(address);
  };
  return element("button", { type: "button", onclick: save }, text);
}
