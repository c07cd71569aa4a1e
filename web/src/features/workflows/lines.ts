import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { TranscriptLine } from "#/api/workflows";
import { dollars } from "#/lib/money";
import { sentence } from "#/parts/edit";
import type { Mood } from "#/ui/Chip";
import { type Decided, decidedOf, type Names, namesOf, workOf } from "./sheets";
import { limitOf, seconds, statusOf, tokens } from "./words";

/** A line of a transcript as people read it. */
export type Entry = {
  seq: number;
  at: string;
  /** Who the line is from: the model, coffer, or the prompt. */
  who: "model" | "coffer" | "asked";
  title: string;
  /** The message as plain text. */
  text?: string;
  badge?: [words: string, mood: Mood];
  /** Details, which the reader can unfold. */
  more?: string;
  /** The results of a batch's rows. */
  rows?: Decided[];
};

const str = (v: unknown) => (typeof v === "string" ? v : "");
const num = (v: unknown) => (typeof v === "number" ? v : 0);

/** The name of a tool with spaces. */
export const toolOf = (tool: unknown) => str(tool).replaceAll("_", " ") || t`a tool`;

/** Writes the names of tools and fields in a text with spaces. */
const inWords = (text: string) => text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => name.replaceAll("_", " "));

/** JSON with indented lines; any other text as it is. */
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

const maxLength = 20_000; // characters of one line that are shown

function cut(s: string): string {
  if (s.length <= maxLength) return s;
  const more = plural(s.length - maxLength, { one: "… and # more character", other: "… and # more characters" });
  return `${s.slice(0, maxLength)}\n${more}`;
}

const folded = (v: unknown) => ({ more: cut(pretty(v)) });

const routes: Record<string, [MessageDescriptor, Mood]> = {
  done: [msg`Done`, "in"],
  planned: [msg`Needs approval`, "held"],
  refused: [msg`Not allowed`, "warn"],
};

function badgeOf(route: string): Entry["badge"] {
  const found = routes[route];
  return found && [i18n._(found[0]), found[1]];
}

function usage(l: TranscriptLine, hidden: boolean): string {
  const details = [
    typeof l.cost_usd === "number" ? (hidden ? "••••" : dollars(l.cost_usd)) : t`cost unknown`,
    tokens(num(l.input_tokens), num(l.output_tokens)),
    seconds(Math.round(num(l.took_ms) / 1000)),
  ];
  const attempts = num(l.retries) + 1;
  if (attempts > 1) details.push(plural(attempts, { one: "# attempt", other: "# attempts" }));
  return t`Response ${{ turn: num(l.turn) }}: ${{ details: details.join(", ") }}`;
}

/** The result of a run, or the reason why it failed. */
function endOf(l: TranscriptLine): string {
  const sentences = [
    str(l.message) && sentence(str(l.message)),
    num(l.changes) ? plural(num(l.changes), { one: "# change made.", other: "# changes made." }) : "",
    l.plan === "waiting" ? t`Changes need approval.` : "",
    num(l.left_open)
      ? plural(num(l.left_open), { one: "# transaction left for you.", other: "# transactions left for you." })
      : "",
  ];
  return sentences.filter(Boolean).join(" ");
}

export type Options = {
  /** Whether amounts are hidden. */
  hidden?: boolean;
  /** Returns the name of a category. */
  category?: (slug: string) => string;
  /** The names of the rows of the current batch. */
  names?: Names;
};

/** A transcript in words. The names of rows come from the latest prompt with a batch. */
export function entriesOf(lines: readonly TranscriptLine[], how: Options): Entry[] {
  let names: Names = new Map();
  return lines.map((l) => {
    if (l.kind === "user" && num(l.sheet)) names = namesOf(l);
    return entryOf(l, { ...how, names });
  });
}

/** A line of a transcript in words. Lines of an unknown kind are shown as JSON. */
export function entryOf(
  l: TranscriptLine,
  { hidden = false, category = String, names = new Map() }: Options = {},
): Entry {
  const base = { seq: l.seq, at: l.at };
  const coffer = { ...base, who: "coffer" as const };
  switch (l.kind) {
    case "definition":
      return { ...coffer, title: t`Workflow settings`, ...folded(l.definition ?? l) };
    case "system":
      return { ...base, who: "asked", title: t`System prompt`, ...folded(str(l.text)) };
    case "user": {
      const rows = Array.isArray(l.rows) ? l.rows.length : 0;
      const title = rows
        ? t`Prompt: batch ${{ batch: num(l.sheet) }}, ${plural(rows, { one: "# row", other: "# rows" })}`
        : t`Prompt`;
      return { ...base, who: "asked", title, ...folded(str(l.text)) };
    }
    case "worklist":
      return { ...coffer, ...workOf(l) };
    case "decided":
      return { ...coffer, ...decidedOf(l, names, category) };
    case "assistant": {
      const calls = Array.isArray(l.calls) ? l.calls.length : 0;
      const title = calls
        ? plural(calls, { one: "Model requested # tool call", other: "Model requested # tool calls" })
        : t`Model response`;
      return { ...base, who: "model", title, text: cut(str(l.text)) || undefined };
    }
    case "tool_call":
      return {
        ...base,
        who: "model",
        title: l.tool === "decide" ? t`Decisions for this batch` : t`Tool call: ${{ tool: toolOf(l.tool) }}`,
        text: str(l.why) ? sentence(inWords(str(l.why))) : undefined,
        badge: badgeOf(str(l.route)),
        ...folded(l.arguments),
      };
    case "tool_result":
      return {
        ...coffer,
        title: l.is_error ? t`Tool error` : t`Tool result`,
        badge: l.is_error ? [t`Error`, "warn"] : undefined,
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
        title: limitOf(str(l.limit) as never, none) ?? t`Limit reached.`,
        badge: [t`Limit`, "warn"],
      };
    }
    case "note":
      return { ...coffer, title: t`Note`, text: str(l.text) };
    case "end":
      return {
        ...coffer,
        title: t`Finished: ${{ status: statusOf(str(l.status) as never) }}`,
        text: endOf(l) || undefined,
      };
    default:
      return { ...coffer, title: l.kind.replaceAll("_", " "), ...folded(l) };
  }
}
