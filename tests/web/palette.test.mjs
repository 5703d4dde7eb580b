// The colours of the style sheet, seen through three kinds of colour blindness.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const sheet = readFileSync(new URL("../../coordinator/web/style.css", import.meta.url), "utf8");

/// Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
const kSights = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function themeOf(selector) {
  const block = sheet.slice(sheet.indexOf(selector)).split("}")[0];
  const colours = {};
  for (const [, name, hex] of block.matchAll(/--([\w-]+): #([0-9a-f]{6});/g)) colours[name] = hex;
  return colours;
}

function linear(hex) {
  return [0, 2, 4].map((at) => {
    const share = parseInt(hex.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
}

function seen(rgb, sight) {
  return sight.map((row) => {
    const value = row.reduce((sum, weight, i) => sum + weight * rgb[i], 0);
    return Math.min(1, Math.max(0, value));
  });
}

/// CIE L*a*b* of linear sRGB (D65).
function lab([r, g, b]) {
  const x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047;
  const y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883;
  const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  return [116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))];
}

function luminance([r, g, b]) {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [high, low] = [luminance(linear(a)), luminance(linear(b))].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

for (const [theme, selector] of [["light", ":root {"], ["dark", ':root[data-theme="dark"]']]) {
  const colours = themeOf(selector);
  const series = Array.from({ length: 8 }, (_, i) => colours[`series-${i}`]);

  for (const [name, sight] of Object.entries(kSights)) {
    test(`series of the ${theme} theme are told apart with ${name} sight`, () => {
      series.forEach((a, i) =>
        series.slice(i + 1).forEach((b, j) => {
          const [left, right] = [a, b].map((hex) => lab(seen(linear(hex), sight)));
          const distance = Math.hypot(...left.map((part, k) => part - right[k]));
          assert.ok(distance > 15, `${i} #${a} and ${i + j + 1} #${b} are ${distance.toFixed(1)} apart`);
        }),
      );
    });
  }

  test(`series and words of the ${theme} theme stand out from their panel`, () => {
    for (const hex of series) assert.ok(contrast(hex, colours.panel) >= 3, `#${hex}`);
    for (const name of ["text", "muted", "accent", "ok", "bad", "wait"]) {
      assert.ok(contrast(colours[name], colours.panel) >= 4.5, name);
    }
  });
}

test("the dark theme is the same whether chosen or the system's", () => {
  assert.deepEqual(themeOf(':root[data-theme="dark"]'), themeOf(':root[data-theme="auto"]'));
});
