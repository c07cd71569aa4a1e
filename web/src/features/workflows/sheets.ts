import type { TranscriptLine } from "#/api/workflows";
import { payments } from "#/lib/words";
import type { Mood } from "#/ui/Chip";
import { some } from "./words";

/** What became of one row of a sheet. */
export type Decided = {
  row: number;
  /** A payment that the row stands for, to open it. */
  id?: string;
  /** The payee as the bank wrote it: a stranger's text. */
  name: string;
  /** What was decided, in words. */
  what: string;
  /** Why, in the model's words. */
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

/** The names of a sheet's rows, by their numbers. */
export type Names = ReadonlyMap<number, string>;

const list = <T>(v: unknown): T[] => (Array.isArray(v) ? (v as T[]) : []);

/** The payments and rows that a run is to decide about, and how many it knows already. */
export function workOf(l: TranscriptLine): { title: string; text?: string } {
  const rows = list<string[]>(l.rows);
  const all = rows.reduce((sum, ids) => sum + list(ids).length, 0);
  const known = typeof l.known === "number" ? l.known : 0;
  const grouped = all === rows.length ? "" : `, in ${some(rows.length, "row")}`;
  return {
    title: all ? `${payments(all)} to decide about${grouped}` : "Nothing to decide about",
    text: known
      ? `${payments(known)} that it was asked about before ${known === 1 ? "is" : "are"} left out: nothing has changed since.`
      : undefined,
  };
}

/** The payees of the rows of a sheet, which stand in what the model was asked, one a line. */
export function namesOf(l: TranscriptLine): Names {
  const names = new Map<number, string>();
  for (const line of String(l.text ?? "").split("\n")) {
    if (!line.startsWith("{")) continue;
    try {
      const row = JSON.parse(line) as { row?: number; name?: string; times?: number };
      if (row.row && row.name) names.set(row.row, row.times ? `${row.name}, ${payments(row.times)}` : row.name);
    } catch {
      // A line that cannot be read only lacks its name.
    }
  }
  return names;
}

/** Each outcome: of a row, of several in a title, and how it looks. */
const outcomes: Record<string, [one: string, many: string]> = {
  filed: ["Filed", "filed"],
  planned: ["Planned", "planned"],
  unsure: ["Not sure, left for you", "left for you"],
  unanswered: ["No usable answer, left for you", "without an answer"],
  measured: ["Decided, and not written", "decided"],
  moved: ["Somebody decided it meanwhile", "decided by somebody else meanwhile"],
  rejected: ["Refused", "refused"],
};

function whatOf(p: Placement, category: (slug: string) => string): string {
  const set = [
    p.category ? category(p.category) : "",
    p.counterparty ? `payee ${p.counterparty}` : "",
    ...list<string>(p.tags).map((t) => `tag ${t}`),
  ].filter(Boolean);
  const held = list<string>(p.held).map((f) => (f.startsWith("tag:") ? `tag ${f.slice(4)}` : f.replaceAll("_", " ")));
  const stays = held.length ? ` (held by a person: ${held.join(", ")})` : "";
  const words = outcomes[p.outcome]?.[0] ?? p.outcome;
  return `${words}${set.length ? `: ${set.join(", ")}` : ""}${stays}`;
}

/** What became of the rows of a sheet. */
export function decidedOf(
  l: TranscriptLine,
  names: Names,
  category: (slug: string) => string,
): { title: string; text?: string; badge?: [string, Mood]; rows?: Decided[] } {
  const sheet = `Sheet ${Number(l.sheet) || 1}`;
  if (l.wrong_code)
    return {
      title: `${sheet}: nothing was taken from this answer`,
      text: "The model did not know the code at the beginning of its instructions, so it has not read them.",
      badge: ["Not used", "warn"],
    };
  const placed = list<Placement>(l.rows);
  const counts = Object.entries(outcomes).flatMap(([outcome, [, many]]) => {
    const n = placed.filter((p) => p.outcome === outcome).length;
    return n ? [`${n} ${many}`] : [];
  });
  return {
    title: `${sheet}: ${counts.join(", ") || "no row was decided"}`,
    rows: placed.map((p) => ({
      row: p.row,
      id: list<string>(p.transactions)[0],
      name: names.get(p.row) ?? `Row ${p.row}`,
      what: whatOf(p, category),
      why: p.note || undefined,
    })),
  };
}
