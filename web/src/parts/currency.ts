/** The first of the wanted currencies that is available, else the first available one. */
export const shownCurrency = (all: readonly string[], ...wanted: (string | undefined)[]): string =>
  wanted.find((w) => w !== undefined && all.includes(w)) ?? all[0] ?? "";
