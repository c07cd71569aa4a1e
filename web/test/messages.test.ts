import { expect, it } from "vitest";
import { argumentsOf, base, compiled, expand, extract, partsOf, read, shorten, write } from "../catalogue.ts";
import { type Screen, screens } from "../src/app/screens";

const raw = import.meta.glob<string>(["../src/**/*.{ts,tsx}", "!**/*.test.*", "!**/*.d.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});
const sources = Object.fromEntries(Object.entries(raw).map(([path, code]) => [path.replace("../", ""), code]));
const catalogues = import.meta.glob<string>("../src/messages/*.po", { query: "?raw", import: "default", eager: true });
const languages = Object.keys(catalogues).map((path) => path.replace(/.*\/|\.po$/g, ""));
const textOf = (language: string) => catalogues[`../src/messages/${language}.po`] ?? "";
const now = extract(sources);

// `npm run extract` runs this test with -u, which writes the files.
it.each(["en", ...languages.filter((l) => l !== "en")])(
  "has the messages of the sources in %s.po",
  async (language) => {
    const before = language === "en" ? {} : read(textOf(language), language);
    await expect(write(now, language, before)).toMatchFileSnapshot(`../src/messages/${language}.po`);
  },
);

it.each(languages)("has every message in %s, with the same arguments", (language) => {
  const same = (a: string, b: string) => argumentsOf(a).join() === argumentsOf(b).join();
  const all = Object.values(read(textOf(language), language));
  const bad = all.filter((m) => !m.translation || !same(m.translation, m.message ?? ""));
  expect(bad.map((m) => m.message)).toEqual([]);
});

it("knows what a translation must keep", () => {
  expect(
    argumentsOf("{n, plural, one {All of # row in <0>{file}</0>} other {All of # rows in <0>{file}</0>}}"),
  ).toEqual(["</0>", "<0>", "file", "n plural"]);
  expect(argumentsOf("Done")).toEqual([]);
});

it("begins a language with an empty file, and keeps what was translated", () => {
  const messages = extract({ "src/x.ts": 'import { msg } from "@lingui/core/macro"; export const a = msg`New`;' });
  const empty = write(messages, "de", read("", "de"));
  expect(empty).toContain('msgid "New"\nmsgstr ""');
  const filled = empty.replace('msgid "New"\nmsgstr ""', 'msgid "New"\nmsgstr "Neu"');
  expect(write(messages, "de", read(filled, "de"))).toBe(filled);
});

it("loads the texts of a screen with its script", () => {
  const source = sources["src/app/screens.ts"] ?? "";
  const loads = [...source.matchAll(/page\("(\w+)", \(\) => import\("#\/features\/(\w+)\//g)];
  expect(loads).toHaveLength(screens.filter((s: Screen) => s.page).length);
  for (const [, part, folder] of loads) expect(part).toBe(folder);
});

it("keeps the texts of a screen apart, and once what many show", () => {
  const from = (...files: string[]) => partsOf({ origin: files.map((f) => [f]) });
  expect(from("src/features/rules/a.ts")).toEqual(["rules"]);
  expect(from("src/features/rules/a.ts", "src/features/review/b.ts")).toEqual(["rules", "review"]);
  expect(from("src/features/rules/a.ts", "src/parts/c.ts")).toEqual([base]);
  const words = { origin: [["src/app/a.ts"]] as [string][], context: "search words" };
  expect(partsOf(words)).toEqual(["palette"]);
  expect(from(..."abcd".split("").map((f) => `src/features/${f}/x.ts`))).toEqual([base]);
});

it("finds messages with their plurals, arguments and elements", () => {
  const code = `import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
export const a = (n: number) => plural(n, { one: "# row", other: "# rows" });
export const b = (who: string) => t\`Shared by \${who}\`;
export const c = <Trans>Go to <a href="/">accounts</a></Trans>;`;
  const texts = Object.values(extract({ "src/x.tsx": code })).map((m) => m.message);
  expect(texts).toEqual(["{n, plural, one {# row} other {# rows}}", "Shared by {who}", "Go to <0>accounts</0>"]);
});

it("compiles what it loads, and falls back to English", () => {
  const c = { a: { message: "{n} rows", translation: "{n} Zeilen" }, b: { message: "New" } };
  expect(compiled(c)).toEqual({ [base]: { a: [["n"], " Zeilen"], b: ["New"] } });
});

it("ships short names alone, and no message that the catalogue does not have", () => {
  const code = `import { msg } from "@lingui/core/macro"; export const a = msg\`New\`;`;
  const names = shorten(extract({ "src/x.ts": code }));
  expect(expand(code, "src/x.ts", names).code).toMatch(/id: "0"/);
  expect(expand(code, "src/x.ts", names).code).not.toContain("New");
  expect(() => expand(code.replace("New", "Newer"), "src/x.ts", names)).toThrow("npm run extract");
});
