/**
 * Where the areas lie: what is above zero on top of each other, what is below zero beneath each other. Each has its
 * inner and its outer edge.
 */
export function bands(layers: readonly (readonly number[])[]): [number, number][][] {
  const up: number[] = [];
  const down: number[] = [];
  return layers.map((values) =>
    values.map((v, i) => {
      const side = v < 0 ? down : up;
      const inner = side[i] ?? 0;
      side[i] = inner + v;
      return [inner, inner + v];
    }),
  );
}

/** The numbers of marks from left to right, counted from one; those closer than `apart` share one flag in their middle. */
export function flags(marks: readonly number[], apart: number): { from: number; to: number; at: number }[] {
  const out: { from: number; to: number; left: number; right: number }[] = [];
  marks.forEach((x, i) => {
    const last = out.at(-1);
    if (last && x - last.right < apart) Object.assign(last, { to: i + 1, right: x });
    else out.push({ from: i + 1, to: i + 1, left: x, right: x });
  });
  return out.map(({ from, to, left, right }) => ({ from, to, at: (left + right) / 2 }));
}
