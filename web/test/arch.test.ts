import { expect, it } from "vitest";
import leads from "../../internal/web/moved.txt?raw";
import routes from "../../internal/web/routes.txt?raw";
import { moved } from "../src/app/moved";
import { paths } from "../src/app/screens";

const files = import.meta.glob<string>("../src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });

/** The picture of the house: a folder sees those before its own. */
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

it("has the screens that the server serves", () => {
  const served = routes
    .split("\n")
    .filter(Boolean)
    .map((r) => r.replace("{$}", "").replace(/\{(\w+)\}/g, "$$$1"));
  expect(paths.toSorted()).toEqual(served.toSorted());
});

it("leads on from old addresses as the server does", () => {
  const lines = leads.split("\n").filter(Boolean);
  expect(lines.map((l) => l.split(" "))).toEqual(moved);
});
