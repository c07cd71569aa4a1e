import { expect, it } from "vitest";
import { literals, tooEarly } from "./literals";
import { pending } from "./pending";

const sources = import.meta.glob<string>(["../src/**/*.{ts,tsx}", "!**/*.test.*", "!**/*.d.ts", "!../src/dev/**"], {
  query: "?raw",
  import: "default",
  eager: true,
});
const found = Object.entries(sources).map(([path, code]) => {
  const file = path.replace("../", "");
  return { file, literals: literals(file, code) };
});
const waits = (file: string) => pending.find((p) => file.startsWith(p));

it("has every text that people read in the catalogue", () => {
  const bad = found
    .filter((f) => !waits(f.file))
    .flatMap((f) => f.literals.map((l) => `${f.file}:${l.line}: ${l.text}`));
  expect(bad).toEqual([]);
});

it("puts messages into words when they are shown", () => {
  const bad = Object.entries(sources).flatMap(([path, code]) => tooEarly(path, code).map((l) => `${path}:${l.line}`));
  expect(bad).toEqual([]);
  expect(tooEarly("x.ts", "const names = { a: t`Open`, b: msg`Shut` };")).toHaveLength(1);
  expect(tooEarly("x.ts", "const name = (n: number) => plural(n, { other: t`Open` });")).toEqual([]);
});

it("lists as pending only what has something to convert", () => {
  const left = new Set(found.filter((f) => f.literals.length > 0).map((f) => waits(f.file)));
  expect(pending.filter((p) => !left.has(p))).toEqual([]);
});

it.each([
  ["a text", "<p>Saved</p>"],
  ["an attribute", '<Fault what="the chart" />'],
  ["an attribute of one word", '<button aria-label="open" />'],
  ["one of two texts", '<p>{late ? "overdue" : t`due`}</p>'],
  ["a part of a template", "<p>{`$" + "{n} left`}</p>"],
  ["a fragment inside a message", "<p>{t`$" + '{late ? "over" : "under"} budget`}</p>'],
  ["a sentence in a call", 'say("Can’t reach the server.")'],
  ["a label", 'const x = { label: "weekly" }'],
  ["an element inside a message", '<Trans>Go <a title="Accounts">there</a></Trans>'],
])("finds %s", (_, code) => expect(literals("x.tsx", `${code};`)).not.toEqual([]));

it.each([
  ["a message", "<p><Trans>Saved</Trans></p>"],
  ["an attribute", "<Fault what={t`the chart`} />"],
  ["a plural", 'plural(n, { one: "# row", other: "# rows" })'],
  ["an element inside a message", '<Trans>Go <a href="/accounts">there</a></Trans>'],
  ["a class", '<p className="row wrap">{x}</p>'],
  ["a key", 'if (e.key === "Enter") go("/accounts")'],
  ["the product's name", "<b>coffer</b>"],
])("leaves %s", (_, code) => expect(literals("x.tsx", `${code};`)).toEqual([]));
