import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { TranscriptLine } from "#/api/workflows";
import type { Mood } from "#/ui/Chip";

/** The result of one row of a batch. */
export type Decided = {
  row: number;
  /** A transaction of the row, to link to. */
  id?: string;
  /** The payee as the bank wrote it: a text that strangers can influence. */
  name: string;
  /** The decision in words. */
  what: string;
  /** The reason, in the model's words. */
  why?: string;
};

type Placement = {
  row: number;
  transactions?: string[];
  outcome: string;
  category?: string;
  tags?: string[];
  counterparty?: string;
  note?: string;
  held?: string[];
};

/** The names of a batch's rows, by row number. */
export type Names = ReadonlyMap<number, string>;

const list = <T>(v: unknown): T[] => (Array.isArray(v) ? (v as T[]) : []);

/** How many transactions and rows a run must decide, and how many it skips. */
export function workOf(l: TranscriptLine): { title: string; text?: string } {
  const rows = list<string[]>(l.rows);
  const all = rows.reduce((sum, ids) => sum + list(ids).length, 0);
  const known = typeof l.known === "number" ? l.known : 0;
  return {
    title: toDecide(all, rows.length),
    text: known
      ? plural(known, {
          one: "Skipped # unchanged transaction from earlier runs.",
          other: "Skipped # unchanged transactions from earlier runs.",
        })
      : undefined,
  };
}

function toDecide(all: number, rows: number): string {
  if (!all) return t`Nothing to decide`;
  if (all === rows) return plural(all, { one: "# transaction to decide", other: "# transactions to decide" });
  return t`${plural(all, { one: "# transaction to decide", other: "# transactions to decide" })}, in ${plural(rows, { one: "# row", other: "# rows" })}`;
}

/** The name of a row: its payee, and how many transactions it stands for. */
const calledRow = (name: string, times: number | undefined) =>
  times ? plural(times, { one: `${name}, # transaction`, other: `${name}, # transactions` }) : name;

/** Reads the names of a batch's rows from the prompt, which has one row of JSON on each line. */
export function namesOf(l: TranscriptLine): Names {
  const names = new Map<number, string>();
  for (const line of String(l.text ?? "").split("\n")) {
    if (!line.startsWith("{")) continue;
    try {
      const row = JSON.parse(line) as { row?: number; name?: string; times?: number };
      if (row.row && row.name) names.set(row.row, calledRow(row.name, row.times));
    } catch {
      // An unreadable row only lacks its name.
    }
  }
  return names;
}

/** The words for each outcome: for one row, and for a number of rows in a title. */
const outcomes: Record<string, [one: MessageDescriptor, many: (n: number) => string]> = {
  filed: [msg`Categorized`, (n) => plural(n, { one: "# categorized", other: "# categorized" })],
  planned: [msg`Needs approval`, (n) => plural(n, { one: "# needs approval", other: "# need approval" })],
  unsure: [msg`Not sure, left for you`, (n) => plural(n, { one: "# left for you", other: "# left for you" })],
  unanswered: [msg`No valid answer, left for you`, (n) => plural(n, { one: "# no answer", other: "# no answer" })],
  measured: [msg`Decided (not saved)`, (n) => plural(n, { one: "# decided", other: "# decided" })],
  moved: [
    msg`Changed by someone else`,
    (n) => plural(n, { one: "# changed by someone else", other: "# changed by someone else" }),
  ],
  rejected: [msg`Not allowed`, (n) => plural(n, { one: "# not allowed", other: "# not allowed" })],
};

/** The name of a locked field, in words. */
function fieldName(field: string): string {
  if (field.startsWith("tag:")) return t`tag ${{ tag: field.slice(4) }}`;
  if (field === "category") return t`category`;
  return field === "counterparty" ? t`payee` : field.replaceAll("_", " ");
}

function whatOf(p: Placement, category: (slug: string) => string): string {
  const set = [
    p.category ? category(p.category) : "",
    p.counterparty ? t`payee ${{ payee: p.counterparty }}` : "",
    ...list<string>(p.tags).map((tag) => t`tag ${tag}`),
  ].filter(Boolean);
  const outcome = outcomes[p.outcome]?.[0];
  const words = outcome ? i18n._(outcome) : p.outcome;
  const result = set.length ? t`${{ outcome: words }}: ${{ values: set.join(", ") }}` : words;
  const locked = list<string>(p.held).map(fieldName).join(", ");
  return locked ? t`${result} (locked: ${locked})` : result;
}

/** The results of the rows of a batch. */
export function decidedOf(
  l: TranscriptLine,
  names: Names,
  category: (slug: string) => string,
): { title: string; text?: string; badge?: [string, Mood]; rows?: Decided[] } {
  const batch = Number(l.sheet) || 1;
  if (l.wrong_code)
    return {
      title: t`Batch ${batch}: response rejected`,
      text: t`The model didn’t return the code from its instructions, so it may not have read them.`,
      badge: [t`Rejected`, "warn"],
    };
  const placed = list<Placement>(l.rows);
  const counts = Object.entries(outcomes).flatMap(([outcome, [, many]]) => {
    const n = placed.filter((p) => p.outcome === outcome).length;
    return n ? [many(n)] : [];
  });
  return {
    title: counts.length ? t`Batch ${batch}: ${{ results: counts.join(", ") }}` : t`Batch ${batch}: no decisions`,
    rows: placed.map((p) => ({
      row: p.row,
      id: list<string>(p.transactions)[0],
      name: names.get(p.row) ?? t`Row ${{ row: p.row }}`,
      what: whatOf(p, category),
      why: p.note || undefined,
    })),
  };
}
