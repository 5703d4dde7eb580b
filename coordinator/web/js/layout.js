/// Layouts by name: "tp4xdp2" shares heads over 4 ranks and requests over 2.

/// {tp, dp, cp} of a name; parts that are not named are 1.
export function layoutOf(name) {
  const layout = { tp: 1, dp: 1, cp: 1 };
  for (const [, part, size] of name.matchAll(/(tp|dp|cp)(\d+)/g)) layout[part] = Number(size);
  return layout;
}

export function ranksOf(layout) {
  return layout.tp * layout.dp * layout.cp;
}

function familyOf({ tp, dp, cp }) {
  const split = (tp > 1) + (dp > 1) + (cp > 1);
  if (split > 1) return 3;
  if (cp > 1) return 2;
  return dp > 1 ? 1 : 0;
}

/// tp1, tp2, ... before dp, cp, and the hybrids; within a family by the number of ranks.
export function layoutOrder(a, b) {
  const [left, right] = [layoutOf(a), layoutOf(b)];
  return (
    familyOf(left) - familyOf(right) ||
    ranksOf(left) - ranksOf(right) ||
    right.tp - left.tp ||
    a.localeCompare(b)
  );
}
