import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import { bankProviders, remote } from "#/api/providers";
import { views } from "#/api/views";
import { workflows } from "#/api/workflows";
import { overlay } from "#/lib/overlay";
import { amounts, theme } from "#/lib/persisted";
import { useCategories } from "#/parts/categories";
import { useCan } from "#/parts/rights";
import { opening } from "#/parts/views";
import { Icon } from "#/ui/Icon";
import type { IconName } from "#/ui/icons";
import { find } from "./find";
import css from "./Palette.module.css";
import { type Act, others, type Place } from "./places";

type Result = { id: string; name: string; hint: string; icon: IconName; go: () => void };

const limit = 9;

const kinds = { page: msg`Page`, setting: msg`Setting`, action: msg`Action` };

const acts: Record<Act, () => void> = {
  add: () => overlay.set("add"),
  keys: () => overlay.set("keys"),
  amounts: () => amounts.set(amounts.get() === "hidden" ? "shown" : "hidden"),
  dark: () => theme.set("dark"),
  light: () => theme.set("light"),
  system: () => theme.set("system"),
  out: () => {
    const form = document.createElement("form");
    form.method = "post";
    form.action = "/logout";
    document.body.append(form);
    form.submit();
  },
};

/**
 * The results of the search: pages, saved views, accounts, workflows, categories, and transactions that match the text.
 */
export function PaletteResults({ pages }: { pages: readonly Place[] }) {
  const go = useNavigate();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const all = useQuery(accounts);
  const saved = useQuery(views);
  const own = useQuery(workflows);
  const { write, admin } = useCan();
  const offers = useQuery({ ...bankProviders, enabled: admin });
  const { choices } = useCategories();
  const results = useMemo((): Result[] => {
    const words = typed.trim().toLowerCase();
    const fits = (s: string) => words !== "" && s.toLowerCase().includes(words);
    const search: Result[] = words
      ? [
          {
            id: "search",
            name: t`Search transactions for “${{ words: typed.trim() }}”`,
            hint: t`Transactions`,
            icon: "search",
            go: () => void go({ to: "/transactions", search: { search: typed.trim() } }),
          },
        ]
      : [];
    return [
      ...find([...pages, ...others], typed, { write, admin }).map(
        (p): Result => ({
          id: p.name.id,
          name: i18n._(p.name),
          hint: i18n._(kinds[p.kind]),
          icon: p.icon,
          go: () => {
            if ("to" in p) void go({ to: p.to, search: "search" in p ? p.search : {} });
            else if ("href" in p) location.assign(p.href);
            else acts[p.act]();
          },
        }),
      ),
      ...(admin ? remote(offers.data ?? []) : [])
        .filter((p) => fits(p.title))
        .map(
          (p): Result => ({
            id: p.name,
            name: p.title,
            hint: t`Bank providers`,
            icon: "bank",
            go: () => void go({ to: "/settings/providers", search: {} }),
          }),
        ),
      ...search,
      ...(saved.data ?? [])
        .filter((v) => fits(v.name))
        .map(
          (v): Result => ({
            id: v.id,
            name: v.name,
            hint: v.shared ? t`Shared view` : t`Saved view`,
            icon: "filter",
            go: () => void go({ to: "/transactions", search: opening(v) }),
          }),
        ),
      ...(all.data ?? [])
        .filter((a) => fits(accountName(a)))
        .map(
          (a): Result => ({
            id: a.id,
            name: accountName(a),
            hint: t`Account`,
            icon: "bank",
            go: () => void go({ to: "/accounts/$id", params: { id: a.short_id }, search: {} }),
          }),
        ),
      ...(own.data ?? [])
        .filter((w) => fits(w.name))
        .map(
          (w): Result => ({
            id: w.id,
            name: w.name,
            hint: t`Workflow`,
            icon: "bolt",
            go: () => void go({ to: "/workflows/$id", params: { id: w.slug } }),
          }),
        ),
      ...choices
        .filter((c) => fits(c.label))
        .map(
          (c): Result => ({
            id: c.value,
            name: c.label,
            hint: t`Category`,
            icon: c.look?.icon ?? "tag",
            go: () => void go({ to: "/transactions", search: { category: c.value } }),
          }),
        ),
    ].slice(0, words ? limit : undefined);
  }, [typed, all.data, saved.data, own.data, offers.data, write, admin, choices, go, pages]);
  const take = (w: Result | undefined) => {
    overlay.set(null);
    w?.go();
  };
  return (
    <div className={css.palette}>
      <input
        className={css.input}
        // biome-ignore lint/a11y/noAutofocus: the palette is opened to type into it
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls="ways"
        aria-activedescendant={`way-${at}`}
        aria-label={t`Search`}
        placeholder={t`Search transactions, accounts, categories, pages`}
        value={typed}
        onChange={(e) => {
          setTyped(e.target.value);
          setAt(0);
        }}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown") setAt((i) => Math.min(i + 1, results.length - 1));
          else if (e.key === "ArrowUp") setAt((i) => Math.max(i - 1, 0));
          else if (e.key === "Enter") take(results[at]);
          else return;
          e.preventDefault();
        }}
      />
      <div id="ways" role="listbox" aria-label={t`Results`}>
        {results.map((w, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={w.id}
            id={`way-${i}`}
            className={css.result}
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            onMouseMove={() => setAt(i)}
            onClick={() => take(w)}
          >
            <Icon name={w.icon} />
            <span className="cut">{w.name}</span>
            <span className={css.hint}>{w.hint}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
