import type { Schemas } from "#/api/client";

export type Price = Schemas["ModelPrice"];

/** A model's prices as typed into the form: US dollars per million tokens, null for an empty field. */
export type Given = Record<"input" | "output" | "cache_read" | "cache_write", string | null>;

/**
 * A provider's prices with new prices for one model. Without both main prices, nothing changes. An empty price for
 * cached tokens removes that price. Cached tokens then cost as much as others.
 */
export function priced(all: Price[], model: string, g: Given): Price[] {
  if (g.input === null || g.output === null) return all;
  const next: Price = { model, input_usd: g.input, output_usd: g.output };
  if (g.cache_read !== null) next.cache_read_usd = g.cache_read;
  if (g.cache_write !== null) next.cache_write_usd = g.cache_write;
  return [...all.filter((p) => p.model !== model), next];
}
