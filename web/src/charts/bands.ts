/**
 * The areas of a stacked chart. Positive values stack upward from zero, negative values downward. Each value gets its
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

/**
 * Joins marks that are closer than `apart` into one flag in their middle. Marks are numbered from 1, from left to
 * right.
 */
export function flags(marks: readonly number[], apart: number): { from: number; to: number; at: number }[] {
  const out: { from: number; to: number; left: number; right: number }[] = [];
  marks.forEach((x, i) => {
    const last = out.at(-1);
    if (last && x - last.right < apart) Object.assign(last, { to: i + 1, right: x });
    else out.push({ from: i + 1, to: i + 1, left: x, right: x });
  });
  return out.map(({ from, to, left, right }) => ({ from, to, at: (left + right) / 2 }));
}
