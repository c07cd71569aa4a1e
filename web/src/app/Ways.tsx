import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import { session } from "#/api/session";
import { views } from "#/api/views";
import { workflows } from "#/api/workflows";
import { overlay } from "#/lib/overlay";
import { useCategories } from "#/parts/categories";
import { opening } from "#/parts/views";
import { Icon } from "#/ui/Icon";
import type { IconName } from "#/ui/icons";
import css from "./Palette.module.css";
import { screensFor } from "./screens";

type Way = { id: string; name: string; hint: string; icon: IconName; go: () => void };

const most = 9;

/** Where the palette leads: screens, saved views, accounts, workflows, categories, and payments by their words. */
export function Ways() {
  const go = useNavigate();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const all = useQuery(accounts);
  const saved = useQuery(views);
  const own = useQuery(workflows);
  const role = useQuery(session).data?.user?.role;
  const { choices } = useCategories();
  const ways = useMemo((): Way[] => {
    const words = typed.trim().toLowerCase();
    const fits = (s: string) => words !== "" && s.toLowerCase().includes(words);
    const search: Way[] = words
      ? [
          {
            id: "search",
            name: `Find payments with “${typed.trim()}”`,
            hint: "Transactions",
            icon: "search",
            go: () => void go({ to: "/transactions", search: { search: typed.trim() } }),
          },
        ]
      : [];
    return [
      ...screensFor(role)
        .filter((s) => words === "" || fits(s.name))
        .map(
          (s): Way => ({
            id: s.to,
            name: s.name,
            hint: "Screen",
            icon: s.icon,
            go: () => void go({ to: s.to, search: {} }),
          }),
        ),
      ...search,
      ...(saved.data ?? [])
        .filter((v) => fits(v.name))
        .map(
          (v): Way => ({
            id: v.id,
            name: v.name,
            hint: v.shared ? "Shared view" : "View",
            icon: "filter",
            go: () => void go({ to: "/transactions", search: opening(v) }),
          }),
        ),
      ...(all.data ?? [])
        .filter((a) => fits(accountName(a)))
        .map(
          (a): Way => ({
            id: a.id,
            name: accountName(a),
            hint: "Account",
            icon: "bank",
            go: () => void go({ to: "/accounts/$id", params: { id: a.short_id }, search: {} }),
          }),
        ),
      ...(own.data ?? [])
        .filter((w) => fits(w.name))
        .map(
          (w): Way => ({
            id: w.id,
            name: w.name,
            hint: "Workflow",
            icon: "bolt",
            go: () => void go({ to: "/workflows/$id", params: { id: w.slug } }),
          }),
        ),
      ...choices
        .filter((c) => fits(c.label))
        .map(
          (c): Way => ({
            id: c.value,
            name: c.label,
            hint: "Category",
            icon: c.look?.icon ?? "tag",
            go: () => void go({ to: "/transactions", search: { category: c.value } }),
          }),
        ),
    ].slice(0, most);
  }, [typed, all.data, saved.data, own.data, role, choices, go]);
  const take = (w: Way | undefined) => {
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
        aria-label="Search or go to"
        placeholder="A screen, a view, an account, a category, or words of a payment"
        value={typed}
        onChange={(e) => {
          setTyped(e.target.value);
          setAt(0);
        }}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown") setAt((i) => Math.min(i + 1, ways.length - 1));
          else if (e.key === "ArrowUp") setAt((i) => Math.max(i - 1, 0));
          else if (e.key === "Enter") take(ways[at]);
          else return;
          e.preventDefault();
        }}
      />
      <div id="ways" role="listbox" aria-label="Where to">
        {ways.map((w, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={w.id}
            id={`way-${i}`}
            className={css.way}
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
