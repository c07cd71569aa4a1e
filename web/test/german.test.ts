import { i18n } from "@lingui/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compiled, read } from "../catalogue.ts";
import { sentenceOf } from "../src/features/rules/words";
import { transactions } from "../src/lib/words";
import de from "../src/messages/de.po?raw";
import { changeSummary } from "../src/parts/changeSummary";

const all = Object.values(read(de, "de"));
const found = (wrong: RegExp) => all.map((m) => m.translation ?? "").filter((text) => wrong.test(text));
const english = i18n.messages;

beforeAll(() =>
  i18n.loadAndActivate({ locale: "de", messages: Object.assign({}, ...Object.values(compiled(read(de, "de")))) }),
);
afterAll(() => i18n.loadAndActivate({ locale: "en", messages: english }));

// The rules are in docs/building/words-de.md.
it.each([
  ["the quotes of English", /”|"|“[^„]*“|(^|[^“„])“[A-Za-zÄÖÜ]/],
  ["exclamation marks", /!/],
  ["a space before a percent sign", /\s%/],
  ["a hyphen as a dash", /\p{L} - \p{L}/u],
  ["a date at the end of a sentence, where it brings a dot of its own", /\{(day|when|start)\}\./],
])("has no German text with %s", (_, wrong) => expect(found(wrong)).toEqual([]));

it("keeps nouns that begin a change in upper case", () => {
  const change = { actor_type: "user", actor_name: "Anna", cause: "api", of_action: null, payee: null, count: 1 };
  const say = (x: object) => changeSummary({ ...change, with: {}, ...x } as never);
  const rule = { kind: "rule", name: "Rewe" };
  expect(say({ action: "created", subject: rule })).toBe("Anna: Regel „Rewe“ hinzugefügt");
  expect(say({ action: "reverted", of_action: "created", subject: rule })).toBe(
    "Anna: Rückgängig – Regel „Rewe“ hinzugefügt",
  );
  const filed = { action: "categorized", subject: { kind: "transaction" }, count: 2, payee: "Kiosk" };
  expect(say({ ...filed, with: { category: { name: "Essen" } } })).toBe(
    "Anna: 2 Umsätze von „Kiosk“ als „Essen“ kategorisiert",
  );
});

it("says a rule in one sentence", () => {
  const when = { mode: "all", lines: [{ field: "merchant_name", op: "contains", value: "Rewe" }] };
  const actions = [{ type: "set_category", category_slug: "food" }];
  const names = { category: () => "Lebensmittel", account: () => "Giro" };
  expect(sentenceOf(when as never, actions as never, names)).toBe(
    "Wenn gilt: Händler (laut Bank) enthält „Rewe“, dann: Kategorie auf Lebensmittel setzen.",
  );
});

it("counts", () => expect([1, 2, 1234].map(transactions)).toEqual(["1 Umsatz", "2 Umsätze", "1.234 Umsätze"]));
