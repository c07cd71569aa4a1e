import { expect, it } from "vitest";
import { choose } from "./language";

it("takes what was chosen here, then what the browser prefers, then English", () => {
  const there = ["de", "en", "fr"];
  expect(choose("fr", ["de-AT", "en"], there)).toBe("fr");
  expect(choose(null, ["de-AT", "en"], there)).toBe("de");
  expect(choose(null, ["pt-BR", "fr-CA"], there)).toBe("fr");
  expect(choose("xx", ["pt"], there)).toBe("en");
  expect(choose(null, [], there)).toBe("en");
});
