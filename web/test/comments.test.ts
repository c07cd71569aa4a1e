import { expect, it } from "vitest";

const sources = import.meta.glob<string>(["../src/**/*.{ts,tsx}", "!**/*.d.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});

/** Words that comments must not contain. internal/archtest/voice_test.go has a similar list for Go. */
const banned: readonly RegExp[] = [
  /\bheld against\b/i,
  /\b(?:tell|tells|told|telling)\b/i,
  /\bwhoever\b/i,
  /\b(?:anew|shall)\b/i,
  /(?:^|[.!?] )What\b[^.!?]*? is\b/,
];

/** The comments of a file, each on one line and without comment signs. */
const comments = (code: string): string[] =>
  (code.match(/\/\*[\s\S]*?\*\/|(?:(?<=^|\s)\/\/ .*(?:\n\s*)?)+/gm) ?? []).map((c) =>
    c
      .replace(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)|\*\/$/gm, " ")
      .replace(/\s+/g, " ")
      .trim(),
  );

const faults = (code: string) => comments(code).filter((c) => banned.some((b) => b.test(c)));

it("explains the code in plain words", () => {
  const bad = Object.entries(sources).flatMap(([path, code]) => faults(code).map((c) => `${path}: ${c}`));
  expect(bad).toEqual([]);
});

it.each([
  "/** A field that is held against agents. */",
  "const a = 1; // the server tells it",
  "// A person is\n// told about it.",
  "/**\n * Whoever signs in\n * comes back.\n */",
  "/* Asks anew. */",
  "{/* It shall stay. */}",
  "/** A small list. What is left\n * is shown. */",
])("finds %j", (code) => expect(faults(`${code}\nconst b = 2;`)).toHaveLength(1));

it.each([
  "/** The field is locked for agents. */ const told = tell(who); // retold",
  "// The server returns it. What happens next?",
  'const text = "whoever tells"; const url = "https://a/ told";',
])("leaves %j", (code) => expect(faults(code)).toEqual([]));
