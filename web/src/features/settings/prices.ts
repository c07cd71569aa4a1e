import type { Schemas } from "#/api/client";

export type Price = Schemas["ModelPrice"];

/** A model's prices in a form: each in US dollars for a million tokens, null if it was left empty. */
export type Given = Record<"input" | "output" | "cache_read" | "cache_write", string | null>;

/**
 * The prices of a provider with that of one model replaced. Without both main prices all stay as they are.
 * A price of cached tokens that is left empty is removed: they then cost as much as any others.
 */
export function priced(all: Price[], model: string, g: Given): Price[] {
  if (g.input === null || g.output === null) return all;
  const next: Price = { model, input_usd: g.input, output_usd: g.output };
  if (g.cache_read !== null) next.cache_read_usd = g.cache_read;
  if (g.cache_write !== null) next.cache_write_usd = g.cache_write;
  return [...all.filter((p) => p.model !== model), next];
}
