import type { Condition } from "#/api/rules";
import { cents } from "#/lib/money";
import { plain, short, typed } from "#/lib/typed";

/** How the lines of a group are combined: all must match, any, none, or not all of them ("some"). */
export type Mode = "all" | "any" | "none" | "some";

/** One comparison. Its value is the text that the person typed. */
export type Test = { field: string; op: string; value: string };
export type Group = { mode: Mode; lines: Line[] };
export type Line = Test | Group;

export const isGroup = (l: Line): l is Group => "lines" in l;

type Leaf = { field: string; op: string; value: unknown };
/** Conditions from a server that may be newer than this page, so nothing about their form is certain. */
type Tree = Record<string, unknown>;

/** The operators that take several values. */
export const takesMany = (op: string) => op === "in";

/** Splits a list such as: Rewe, Edeka, "Smith, Jones". Commas separate values, except between quotation marks. */
export function valuesOf(typed: string): string[] {
  return [...typed.matchAll(/\s*(?:"([^"]*)"|([^,]+))\s*(?:,|$)/g)]
    .map((m) => (m[1] ?? m[2] ?? "").trim())
    .filter((v) => v !== "");
}

const typedOf = (values: unknown[]) =>
  values
    .map(String)
    .map((v) => (v.includes(",") ? `"${v}"` : v))
    .join(", ");

/** Reads the conditions of a rule as a group. A single comparison becomes a group with one line. */
export function parse(tree: Condition | Tree): Group {
  const line = read(tree as Tree);
  if (line === null) return { mode: "all", lines: [] };
  return isGroup(line) ? line : { mode: "all", lines: [line] };
}

function read(tree: Tree): Line | null {
  if (Array.isArray(tree.and)) return { mode: "all", lines: lines(tree.and) };
  if (Array.isArray(tree.or)) return { mode: "any", lines: lines(tree.or) };
  if (tree.not && typeof tree.not === "object") {
    const inner = read(tree.not as Tree);
    if (inner === null) return { mode: "none", lines: [] };
    if (!isGroup(inner)) return { mode: "none", lines: [inner] };
    if (inner.mode === "any") return { mode: "none", lines: inner.lines };
    if (inner.mode === "all") return { mode: "some", lines: inner.lines };
    return { mode: "none", lines: [inner] };
  }
  if (typeof tree.field !== "string") return null;
  const { field, op, value } = tree as Leaf;
  if (field === "amount") {
    const n = plain(String(value), 2, ".");
    return { field, op, value: n === null ? String(value) : short(cents(n)) }; // in the reader's format
  }
  return { field, op, value: Array.isArray(value) ? typedOf(value) : String(value ?? "") };
}

const lines = (trees: unknown[]) =>
  trees.flatMap((t) => {
    const line = read(t as Tree);
    return line === null ? [{ mode: "all", lines: [] } satisfies Group] : [line];
  });

/** Writes a group as conditions for the API. */
export const print = (g: Group) => written(g) as Condition;

function written(g: Group): Tree {
  const inner = g.lines.map((l) => (isGroup(l) ? written(l) : leaf(l)));
  const one = inner.length === 1 ? inner[0] : undefined;
  switch (g.mode) {
    case "all":
      return inner.length === 0 ? {} : (one ?? { and: inner });
    case "any":
      return inner.length === 0 ? {} : (one ?? { or: inner });
    case "none":
      return { not: inner.length === 0 ? {} : (one ?? { or: inner }) };
    case "some":
      return { not: inner.length === 0 ? {} : (one ?? { and: inner }) };
  }
}

function leaf({ field, op, value }: Test): Tree {
  if (takesMany(op)) return { field, op, value: valuesOf(value) };
  if (field === "pending") return { field, op, value: value === "true" };
  return { field, op, value: field === "amount" ? (plain(value, 2) ?? value) : value };
}

/** Whether every line of a group has a value to compare with. */
export const complete = (g: Group): boolean =>
  g.lines.every((l) => {
    if (isGroup(l)) return l.lines.length > 0 && complete(l);
    if (l.field === "amount") return typed(l.value) !== null;
    if (takesMany(l.op)) return valuesOf(l.value).length > 0;
    return l.value.trim() !== "" || (l.field === "category" && (l.op === "eq" || l.op === "neq"));
  });

/** A copy of a group with one line replaced, or removed if `line` is null. */
export const withLine = (g: Group, at: number, line: Line | null): Group => ({
  ...g,
  lines: line === null ? g.lines.filter((_, i) => i !== at) : g.lines.map((l, i) => (i === at ? line : l)),
});
