import { expect, it } from "vitest";
import { offerWords } from "./Offers";

const candidate = (c: object) =>
  ({ match_count: 47, of_payee: 47, would_change: 0, held: 0, already_so: 47, ...c }) as never;

it("says what a suggestion matches", () => {
  expect(offerWords(candidate({}), 47)).toBe("47 transactions");
  expect(offerWords(candidate({ would_change: 12, held: 3 }), 47)).toBe(
    "47 transactions · updates 12 · skips 3 locked",
  );
  expect(offerWords(candidate({ match_count: 60 }), 47)).toBe("60 transactions · 13 from other payees");
  expect(offerWords(candidate({ match_count: 1, of_payee: 1 }), 47)).toBe("1 transaction · 1 of this payee’s 47");
});
