/// Light, dark, or as the system has it.

const kKey = "headsplit-theme";
const kThemes = ["auto", "light", "dark"];

/// Storage is refused in some frames and for some files; then the choice lasts as long as the page.
function storage() {
  try {
    return window.localStorage;
  } catch {
    return { getItem: () => null, setItem: () => {} };
  }
}

/// Wires the button; onchange after every change of colours.
export function installTheme(button, onchange) {
  const kept = storage();
  let theme = kThemes.includes(kept.getItem(kKey)) ? kept.getItem(kKey) : "auto";
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  apply();
  button.addEventListener("click", () => {
    theme = kThemes[(kThemes.indexOf(theme) + 1) % kThemes.length];
    kept.setItem(kKey, theme);
    apply();
    onchange();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onchange);
}
