/// The only place where elements are made.  Text goes in as text nodes, never as markup.

const kSvg = "http://www.w3.org/2000/svg";

function applyProperties(node, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) {
      node.addEventListener(name.slice(2), value);
    } else if (name === "style") {
      for (const [key, part] of Object.entries(value)) node.style.setProperty(key, part);
    } else {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/// An element: attributes, `onclick`-like listeners, a `style` object, and children that are nodes
/// or become text.
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  applyProperties(node, properties);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/// The same for a part of a drawing.
export function drawing(tag, properties = {}, ...children) {
  const node = document.createElementNS(kSvg, tag);
  applyProperties(node, properties);
  node.append(...children);
  return node;
}

/// Sets the text of a node only when it differs, so that a quiet second costs no layout.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/// Whether what a node shows must be drawn anew: `key` says what it is made of.  What is drawn anew
/// for nothing takes the reader's focus and selection away.
export function isNews(node, key) {
  if (node.dataset.key === key) return false;
  node.dataset.key = key;
  return true;
}

/// What to show where there is nothing yet: why, and what to do about it.
export function emptyState(what, ...advice) {
  return element("p", { class: "empty" }, element("strong", {}, what), " ", ...advice);
}

/// Puts a select there, unless the very same one is there already.
export function showSelect(host, label, choices, chosen, onchoice) {
  if (isNews(host, JSON.stringify([choices, chosen]))) {
    host.replaceChildren(select(label, choices, chosen, onchoice));
  }
}

/// A select whose choices are [value, label] pairs.
export function select(label, choices, chosen, onchoice) {
  const box = element(
    "select",
    { "aria-label": label, onchange: (event) => onchoice(event.target.value) },
    choices.map(([value, text]) => element("option", { value, selected: value === chosen }, text)),
  );
  return element("label", { class: "choice" }, element("span", {}, label), box);
}
