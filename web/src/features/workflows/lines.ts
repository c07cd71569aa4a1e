import type { TranscriptLine } from "#/api/workflows";
import { dollars } from "#/lib/money";
import { payments } from "#/lib/words";
import { sentence } from "#/parts/edit";
import type { Mood } from "#/ui/Chip";
import { type Decided, decidedOf, type Names, namesOf, workOf } from "./sheets";
import { limitOf, some, statusOf } from "./words";

/** A line of a transcript as people read it. */
export type Said = {
  seq: number;
  at: string;
  /** Who: the model, coffer or the household. */
  who: "model" | "coffer" | "asked";
  title: string;
  /** What was said, as plain text. */
  text?: string;
  badge?: [words: string, mood: Mood];
  /** What stands behind it, for those who want to see it. */
  more?: string;
  /** What became of the rows of a sheet. */
  rows?: Decided[];
};

const str = (v: unknown) => (typeof v === "string" ? v : "");
const num = (v: unknown) => (typeof v === "number" ? v : 0);

/** The name of a tool in words. */
export const toolOf = (tool: unknown) => str(tool).replaceAll("_", " ") || "something";

/** A text in which tools and fields are written as words. */
const inWords = (text: string) => text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => name.replaceAll("_", " "));

/** JSON with its lines indented, or the text as it is. */
export function pretty(v: unknown): string {
  let value = v;
  if (typeof v === "string") {
    try {
      value = JSON.parse(v);
    } catch {
      return v;
    }
  }
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

const most = 20_000; // characters of one line that are shown

const cut = (s: string) =>
  s.length > most ? `${s.slice(0, most)}\n… and ${(s.length - most).toLocaleString("en")} more characters` : s;

const folded = (v: unknown) => ({ more: cut(pretty(v)) });

const routes: Record<string, [string, Mood]> = {
  done: ["Done", "in"],
  planned: ["Planned", "held"],
  refused: ["Refused", "warn"],
};

function usage(l: TranscriptLine, hidden: boolean): string {
  const cost = typeof l.cost_usd === "number" ? (hidden ? "••••" : dollars(l.cost_usd)) : "price not known";
  const tokens = `${some(num(l.input_tokens), "token")} in, ${some(num(l.output_tokens), "token")} out`;
  const again = num(l.retries) ? `, asked ${num(l.retries) + 1} times` : "";
  return `Answer ${num(l.turn)}: ${cost}, ${tokens}, ${some(Math.round(num(l.took_ms) / 1000), "second")}${again}`;
}

/** How a run ended: what it left behind, or why it failed. */
function endOf(l: TranscriptLine): string {
  const said = [
    str(l.message) && sentence(str(l.message)),
    num(l.changes) ? `${some(num(l.changes), "change")} made.` : "",
    l.plan === "waiting" ? "It left a plan." : "",
    num(l.left_open) ? `${payments(num(l.left_open))} left for you.` : "",
  ];
  return said.filter(Boolean).join(" ");
}

export type Telling = {
  /** Amounts are not shown. */
  hidden?: boolean;
  /** The name of a category. */
  category?: (slug: string) => string;
  /** The payees of the sheet that the line is about. */
  names?: Names;
};

/** A transcript in words. What became of a row is told with the payee that the model was asked about. */
export function allSaid(lines: readonly TranscriptLine[], how: Telling): Said[] {
  let names: Names = new Map();
  return lines.map((l) => {
    if (l.kind === "user" && num(l.sheet)) names = namesOf(l);
    return saidOf(l, { ...how, names });
  });
}

/** A line in words. A kind that is not known stands as it is. */
export function saidOf(
  l: TranscriptLine,
  { hidden = false, category = String, names = new Map() }: Telling = {},
): Said {
  const base = { seq: l.seq, at: l.at };
  const coffer = { ...base, who: "coffer" as const };
  switch (l.kind) {
    case "definition":
      return { ...coffer, title: "Started with this definition", ...folded(l.definition ?? l) };
    case "system":
      return { ...base, who: "asked", title: "The model is told", ...folded(str(l.text)) };
    case "user": {
      const rows = Array.isArray(l.rows) ? l.rows.length : 0;
      const title = rows
        ? `The model is asked about sheet ${num(l.sheet)}, ${some(rows, "row")}`
        : "The model is asked";
      return { ...base, who: "asked", title, ...folded(str(l.text)) };
    }
    case "worklist":
      return { ...coffer, ...workOf(l) };
    case "decided":
      return { ...coffer, ...decidedOf(l, names, category) };
    case "assistant": {
      const calls = Array.isArray(l.calls) ? l.calls.length : 0;
      const title = calls ? `The model wants ${some(calls, "step")}` : "The model says";
      return { ...base, who: "model", title, text: cut(str(l.text)) || undefined };
    }
    case "tool_call":
      return {
        ...base,
        who: "model",
        title: l.tool === "decide" ? "It answers for the rows of the sheet" : `It asks for ${toolOf(l.tool)}`,
        text: str(l.why) ? sentence(inWords(str(l.why))) : undefined,
        badge: routes[str(l.route)],
        ...folded(l.arguments),
      };
    case "tool_result":
      return {
        ...coffer,
        title: l.is_error ? "It came back with an error" : "What came back",
        badge: l.is_error ? ["Error", "warn"] : undefined,
        ...folded(l.content),
      };
    case "usage":
      return { ...coffer, title: usage(l, hidden) };
    case "limit": {
      const none = {
        max_turns: num(l.most),
        max_minutes: num(l.most),
        max_cost_usd: null,
        max_writes: num(l.most) || null,
      };
      return {
        ...coffer,
        title: limitOf(str(l.limit) as never, none) ?? "It reached a limit.",
        badge: ["Limit", "warn"],
      };
    }
    case "note":
      return { ...coffer, title: "Note", text: str(l.text) };
    case "end":
      return { ...coffer, title: `Ended: ${statusOf(str(l.status) as never)}`, text: endOf(l) || undefined };
    default:
      return { ...coffer, title: l.kind.replaceAll("_", " "), ...folded(l) };
  }
}
