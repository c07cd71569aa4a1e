import { expect, it } from "vitest";
import providers from "../../internal/bank/all/all.go?raw";
import leads from "../../internal/surface/web/moved.txt?raw";
import { moved } from "../src/app/moved";
import { screens } from "../src/app/screens";

const files = import.meta.glob<string>("../src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });

/** The layers of src: a folder may import only from earlier layers and from itself. */
const levels = [["lib"], ["api", "charts", "ui"], ["parts"], ["features"], ["app"], ["dev", "main.ts"]];
const levelOf = (folder: string) => levels.findIndex((l) => l.includes(folder));

const place = (path: string) => path.replace("../src/", "").split("/");

function* imports(path: string, text: string) {
  for (const m of text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
    const what = m[1] as string;
    if (what.startsWith("#/")) yield what.slice(2).split("/");
    else if (what.startsWith("./")) yield [...place(path).slice(0, -1), what.slice(2)];
    else if (what.startsWith("../")) yield ["up"];
  }
}

const allowed = (from: string[], to: string[]) => {
  const [a, b] = [levelOf(from[0] ?? ""), levelOf(to[0] ?? "")];
  if (a < 0 || b < 0) return false;
  if (from[0] === to[0]) return from[0] !== "features" || from[1] === to[1];
  return b < a;
};

it("imports go down, and no feature imports a feature", () => {
  const bad: string[] = [];
  for (const [path, text] of Object.entries(files))
    for (const to of imports(path, text)) if (!allowed(place(path), to)) bad.push(`${path} imports ${to.join("/")}`);
  expect(bad).toEqual([]);
});

it("finds an import that goes up, and one of another feature", () => {
  expect(allowed(["lib", "money.ts"], ["ui", "Amount"])).toBe(false);
  expect(allowed(["ui", "Card.tsx"], ["api", "client"])).toBe(false);
  expect(allowed(["features", "review", "x.ts"], ["features", "activity", "y"])).toBe(false);
  expect(allowed(["features", "review", "x.ts"], ["parts", "edit"])).toBe(true);
});

it("keeps files short", () => {
  const long = Object.entries(files)
    .filter(([path]) => !path.endsWith("schema.d.ts"))
    .map(([path, text]) => [path, text.split("\n").length - 1] as const)
    .filter(([, lines]) => lines > 300);
  expect(long).toEqual([]);
});

it("makes no code or style of texts", () => {
  const bad = Object.entries(files)
    .filter(([, text]) => /dangerouslySetInnerHTML|\binnerHTML\b|\beval\(|new Function\(|https?:\/\//.test(text))
    .map(([path]) => path)
    .filter((path) => !/schema\.d\.ts$|\.test\.tsx?$/.test(path));
  expect(bad).toEqual([]);
});

it("does no sums on amounts but those of lib/money", () => {
  const bad = Object.entries(files)
    .filter(([path]) => /\.tsx?$/.test(path) && !path.includes("lib/money") && !path.endsWith("schema.d.ts"))
    .filter(([, text]) =>
      /parseFloat\(|\.toFixed\(|(amount|money_in|money_out|net(?!-worth)|balance_current)\s*[*/+-]\s*(?!\d+n)[\w(]/.test(
        text,
      ),
    )
    .map(([path]) => path);
  expect(bad).toEqual([]);
});

/** The providers that coffer calls over the network, by the directories that the server's list imports. */
const named = [...providers.matchAll(/"coffer\/internal\/bank\/(\w+)"/g)].map((m) => m[1] as string);
const namesOne = (text: string) => new RegExp(`\\b(${named.join("|")})\\b`, "i").test(text);

it("knows no provider by name: they describe themselves in GET /providers", () => {
  const bad = Object.entries(files)
    .filter(([path, text]) => !/schema\.d\.ts$|\.test\.tsx?$/.test(path) && namesOne(text))
    .map(([path]) => path);
  expect(bad).toEqual([]);
});

it("finds a provider's name", () => {
  expect(named.length).toBeGreaterThan(1);
  for (const name of named) {
    expect(namesOne(`const by = { ${name}: 1 };`)).toBe(true);
    expect(namesOne(`Set up ${name.toUpperCase()} first`)).toBe(true);
    expect(namesOne(`story${name}s`)).toBe(false);
  }
});

/** Whether code reads `summary`, the English sentence of a change. That sentence is for terminals and agents. */
const readsSummary = (text: string) =>
  /\.summary\b(?!\()|\["summary"\]|\{[^{}();]*\bsummary\b[^{}();]*\}\s*(=[^>=]|\)\s*=>|:)/.test(text);

it("describes changes by their data, in the reader's language", () => {
  const bad = Object.entries(files)
    .filter(([path, text]) => !/schema\.d\.ts$|\.test\.tsx?$/.test(path) && readsSummary(text))
    .map(([path]) => path);
  expect(bad).toEqual([]);
});

it("finds a read of a change's sentence", () => {
  for (const bad of [
    "importSummary(c.summary, file)",
    "const title = c?.summary ?? x",
    'c["summary"]',
    "const { summary } = c;",
    "const { id, summary: words } = change;",
    "map(({ summary }) => summary)",
    "function Row({ id, summary }: Change) {",
  ])
    expect(readsSummary(bad)).toBe(true);
  for (const good of ["...summary({ group_by: [] })", "t.summary({ a })", 'import { summary } from "#/api/x"'])
    expect(readsSummary(good)).toBe(false);
});

/** The paths of the screens as the server knows them: patterns of Go's http.ServeMux. */
const patterns = screens.map(({ path }) => (path === "/" ? "/{$}" : path.replace(/\$(\w+)/g, "{$1}")));

/** Whether code compares a provider with a name, or sends a provider's name. */
const comparesProvider = (text: string) =>
  /\bprovider\b\)?\s*([=!]==?|:)\s*["'`](csv|manual)\b|["'`](csv|manual)["'`]\s*[=!]==?\s*[\w.?]*\bprovider\b/.test(
    text,
  );

it("distinguishes files and manual entry from other providers in one place", () => {
  const bad = Object.entries(files)
    .filter(([path, text]) => !/schema\.d\.ts$|\.test\.tsx?$/.test(path) && comparesProvider(text))
    .map(([path]) => path);
  expect(bad).toEqual(["../src/lib/provider.ts"]);
});

it("finds a comparison with a provider's name", () => {
  for (const bad of [
    'a.provider === "csv"',
    "b?.provider !== 'manual'",
    '"csv" === a.provider',
    'body: { provider: "csv" }',
  ])
    expect(comparesProvider(bad)).toBe(true);
  for (const good of ["fromFiles(a)", "a.provider === b.provider", 'tx.origin === "manual"', "provider: string;"])
    expect(comparesProvider(good)).toBe(false);
});

// `npm run extract` runs this test with -u, which writes the file.
it("has the screens that the server serves", async () => {
  await expect(`${patterns.join("\n")}\n`).toMatchFileSnapshot("../../internal/surface/web/routes.txt");
});

it("leads on from old addresses as the server does", () => {
  const lines = leads.split("\n").filter(Boolean);
  expect(lines.map((l) => l.split(" "))).toEqual(moved);
});
