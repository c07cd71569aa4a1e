/**
 * Reads the Markdown of a report into a tree for React. The tree has only text and nothing that could run or load.
 * Unknown syntax stays text. Agents write reports, so every step is bounded: a malicious text takes no longer than a
 * normal one of its length.
 */
export type Inline =
  | string
  | { kind: "strong" | "em" | "struck"; of: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "link"; of: Inline[]; to: string };

export type Item = { done?: boolean; of: Block[] };
export type Block =
  | { kind: "heading"; level: number; of: Inline[] }
  | { kind: "text"; of: Inline[] }
  | { kind: "list"; first: number | null; items: Item[] }
  | { kind: "table"; heads: Inline[][]; num: number[]; rows: Inline[][][] }
  | { kind: "quote"; of: Block[] }
  | { kind: "code"; text: string }
  | { kind: "line" };

const deepest = 6;

const fence = /^\s{0,3}(```|~~~)/;
const heading = /^\s{0,3}(#{1,6})\s+(.*)$/;
const line = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const quote = /^\s{0,3}>\s?/;
const marker = /^(\s{0,12})([-*+]|\d{1,9}[.)])(?:\s+(.*)|$)/;
const under = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

export const read = (text: string): Block[] => blocks(text.replaceAll("\r\n", "\n").split("\n"), 0);

const blank = (s: string | undefined) => s === undefined || s.trim() === "";
const begins = (s: string) => fence.test(s) || heading.test(s) || line.test(s) || quote.test(s) || marker.test(s);

function blocks(lines: string[], depth: number): Block[] {
  const out: Block[] = [];
  for (let i = 0; i < lines.length; ) {
    const s = lines[i] as string;
    const h = heading.exec(s);
    if (blank(s)) i++;
    else if (fence.test(s)) i = fenced(lines, i, out);
    else if (h) {
      out.push({ kind: "heading", level: (h[1] as string).length, of: inline((h[2] as string).trimEnd()) });
      i++;
    } else if (line.test(s)) {
      out.push({ kind: "line" });
      i++;
    } else if (quote.test(s) && depth < deepest) {
      const from = i;
      while (i < lines.length && quote.test(lines[i] as string)) i++;
      const of = lines.slice(from, i).map((l) => l.replace(quote, ""));
      out.push({ kind: "quote", of: blocks(of, depth + 1) });
    } else if (marker.test(s) && depth < deepest) i = list(lines, i, out, depth);
    else if (s.includes("|") && under.test(lines[i + 1] ?? "") && lines[i + 1]?.includes("|")) i = table(lines, i, out);
    else i = words(lines, i, out);
  }
  return out;
}

function words(lines: string[], from: number, out: Block[]): number {
  let i = from + 1;
  while (i < lines.length && !blank(lines[i]) && !begins(lines[i] as string)) i++;
  const text = lines.slice(from, i).map((l) => l.trim());
  out.push({ kind: "text", of: inline(text.join(" ")) });
  return i;
}

function fenced(lines: string[], from: number, out: Block[]): number {
  const mark = (fence.exec(lines[from] as string) as RegExpExecArray)[1] as string;
  let i = from + 1;
  while (i < lines.length && !(lines[i] as string).trim().startsWith(mark)) i++;
  out.push({ kind: "code", text: lines.slice(from + 1, i).join("\n") });
  return i + 1;
}

const indent = (s: string) => s.length - s.trimStart().length;

function list(lines: string[], from: number, out: Block[], depth: number): number {
  const first = marker.exec(lines[from] as string) as RegExpExecArray;
  const edge = (first[1] as string).length;
  const numbered = /\d/.test(first[2] as string);
  const items: string[][] = [];
  let i = from;
  for (; i < lines.length; i++) {
    const s = lines[i] as string;
    const m = marker.exec(s);
    const current = items.at(-1);
    if (m && (m[1] as string).length <= edge + 1) {
      if (/\d/.test(m[2] as string) !== numbered || (m[1] as string).length < edge) break;
      items.push([m[3] ?? ""]);
    } else if (blank(s)) {
      const next = lines[i + 1];
      if (blank(next) || (indent(next as string) <= edge && !marker.test(next as string))) break;
      current?.push("");
    } else if (indent(s) > edge || !begins(s)) current?.push(s.slice(Math.min(indent(s), edge + 2)));
    else break;
  }
  const start = numbered ? Number.parseInt(first[2] as string, 10) : null;
  out.push({ kind: "list", first: start, items: items.map((l) => item(l, depth)) });
  return i;
}

function item(lines: string[], depth: number): Item {
  const box = /^\[([ xX])\]\s+/.exec(lines[0] ?? "");
  if (!box) return { of: blocks(lines, depth + 1) };
  const rest = [(lines[0] as string).slice(box[0].length), ...lines.slice(1)];
  return { done: box[1] !== " ", of: blocks(rest, depth + 1) };
}

const cells = (s: string) => {
  const inner = s.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((c) => c.trim().replaceAll("\\|", "|"));
};

function table(lines: string[], from: number, out: Block[]): number {
  const heads = cells(lines[from] as string).slice(0, 20);
  const num = cells(lines[from + 1] as string).flatMap((c, i) => (c.endsWith(":") && i < heads.length ? [i] : []));
  let i = from + 2;
  const rows: Inline[][][] = [];
  for (; i < lines.length && !blank(lines[i]) && (lines[i] as string).includes("|"); i++) {
    const row = cells(lines[i] as string);
    rows.push(heads.map((_, at) => inline(row[at] ?? "")));
  }
  out.push({ kind: "table", heads: heads.map((h) => inline(h)), num, rows });
  return i;
}

const marks = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "struck"],
  ["*", "em"],
  ["_", "em"],
] as const;

const word = (c: string | undefined) => c !== undefined && /[\p{L}\p{N}]/u.test(c);

/** The position of the mark that closes a span whose text begins at `from`, or -1. */
function closes(s: string, mark: string, from: number): number {
  for (let at = s.indexOf(mark, from + 1); at >= 0; at = s.indexOf(mark, at + 1)) {
    if (/\s/.test(s[at - 1] as string) || s[at - 1] === "\\") continue;
    if (mark.length === 1 && (s[at + 1] === mark || s[at - 1] === mark)) continue;
    if (mark.length === 2 && s[at + 2] === mark[0]) continue;
    if (mark[0] === "_" && word(s[at + mark.length])) continue;
    return at;
  }
  return -1;
}

const link = /\[([^[\]]{1,500})\]\(([^()\s]{1,1000})\)/y;

export function inline(s: string, depth = 0): Inline[] {
  const out: Inline[] = [];
  let text = "";
  const push = (x: Inline) => {
    if (text) out.push(text);
    text = "";
    out.push(x);
  };
  // The marks that have no end in the rest of the text, so that they are not searched for again.
  const open = new Set<string>();
  const ends = (mark: string, from: number, find: (s: string, mark: string, from: number) => number) => {
    const at = open.has(mark) ? -1 : find(s, mark, from);
    if (at < 0) open.add(mark);
    return at;
  };
  for (let i = 0; i < s.length; ) {
    const c = s[i] as string;
    if (c === "\\" && /[!-/:-@[-`{-~]/.test(s[i + 1] ?? "")) {
      text += s[i + 1];
      i += 2;
      continue;
    }
    if (c === "`") {
      const mark = /^`{1,3}/.exec(s.slice(i, i + 3))?.[0] ?? "`";
      const end = ends(mark, i + mark.length, (t, m, from) => t.indexOf(m, from));
      if (end > 0) {
        push({ kind: "code", text: s.slice(i + mark.length, end).trim() });
        i = end + mark.length;
        continue;
      }
    }
    if (c === "[" && depth < deepest) {
      link.lastIndex = i;
      const m = link.exec(s);
      if (m) {
        const to = within(m[2] as string);
        const of = inline(m[1] as string, depth + 1);
        if (to) push({ kind: "link", of, to });
        else {
          for (const x of of) push(x);
          text += ` (${m[2]})`;
        }
        i += m[0].length;
        continue;
      }
    }
    const mark = depth < deepest && marks.find(([m]) => s.startsWith(m, i));
    if (mark && !/\s/.test(s[i + mark[0].length] ?? " ") && !(mark[0][0] === "_" && word(s[i - 1]))) {
      const from = i + mark[0].length;
      const end = ends(mark[0], from, closes);
      if (end > from) {
        push({ kind: mark[1], of: inline(s.slice(from, end), depth + 1) });
        i = end + mark[0].length;
        continue;
      }
    }
    text += c;
    i++;
  }
  if (text) out.push(text);
  return out;
}

/** The address of a link, if it stays in this app. Other links are shown as text. */
export function within(to: string): string | null {
  return /^\/(?![/\\])[\w\-./?=&%+:,~#]*$/.test(to) ? to : null;
}

/** The text without marks, for a preview in a list. */
export function plain(of: Inline[]): string {
  return of.map((x) => (typeof x === "string" ? x : x.kind === "code" ? x.text : plain(x.of))).join("");
}

/** The beginning of a report's first paragraph, at most 160 characters. */
export function opening(text: string): string {
  const first = read(text.slice(0, 2000)).find((b) => b.kind === "text");
  return first?.kind === "text" ? plain(first.of).slice(0, 160) : "";
}
