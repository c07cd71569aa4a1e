import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { bySlug, categories } from "#/api/categories";
import { type Look, lookOf } from "#/lib/tones";
import type { Choice } from "#/ui/Picker";

/** The name of a category after that of the category above it: "Food & Drink: Groceries". */
export const within = (parent: string | null | undefined, category: string) =>
  parent ? t`${{ parent }}: ${category}` : category;

/** The categories for screens: a list to pick from, and functions to look one up. */
export function useCategories() {
  const { data } = useQuery(categories);
  return useMemo(() => {
    const by = bySlug(data);
    const look = (slug: string | null | undefined): Look => {
      const own = slug ? by.get(slug) : undefined;
      return lookOf(slug, own?.parent_slug, own, own?.parent_slug ? by.get(own.parent_slug) : undefined);
    };
    const name = (slug: string) => by.get(slug)?.display_name ?? slug.replaceAll("_", " ");
    const choices: Choice[] = (data ?? [])
      .filter((c) => !c.hidden)
      .map((c) => ({
        value: c.slug,
        label: c.display_name,
        hint: c.parent_slug ? c.group : undefined,
        look: look(c.slug),
      }));
    return {
      choices,
      look,
      name,
      kind: (slug: string) => by.get(slug)?.kind,
      parent: (s: string) => by.get(s)?.parent_slug,
    };
  }, [data]);
}
