import { expect, it } from "vitest";
import { offerWords } from "./Offers";

const candidate = (c: object) =>
  ({ match_count: 47, of_payee: 47, would_change: 0, held: 0, already_so: 47, ...c }) as never;

it("says what a suggestion matches", () => {
  expect(offerWords(candidate({}), 47)).toBe("47 payments");
  expect(offerWords(candidate({ would_change: 12, held: 3 }), 47)).toBe(
    "47 payments · changes 12 · leaves 3 that people filed elsewhere",
  );
  expect(offerWords(candidate({ match_count: 60 }), 47)).toBe("60 payments · 13 of other payees");
  expect(offerWords(candidate({ match_count: 1, of_payee: 1 }), 47)).toBe("1 payment · 1 of the payee’s 47");
});
