import { expect, it } from "vitest";
import { nothingIn, reaches } from "./empty";

const november = { from: "2026-11-01", to: "2026-11-30", name: "November" };

it("offers the newest month where nothing has come yet", () => {
  const text = nothingIn(november, { first: "2026-03-02", last: "2026-10-31" });
  expect(text.month).toBe("2026-10");
  expect(text.words).toBe("Nothing has posted in November. Your newest transactions are from October 2026.");
});

it("offers the first month to whoever looks at a time before it", () => {
  expect(nothingIn(november, { first: "2026-12-01", last: "2026-12-03" })).toMatchObject({
    words: "Your transactions begin in December 2026.",
    month: "2026-12",
  });
});

it("says of transfers alone that they do not count, and sends nobody elsewhere", () => {
  const text = nothingIn(november, { first: "2026-10-31", last: "2026-11-01" });
  expect(text.month).toBeUndefined();
  expect(text.title).toBe("No money in or out");
  expect(nothingIn(november, { first: undefined, last: undefined }).month).toBeUndefined();
});

it("compares with no days that begin before the first transaction", () => {
  const books = { first: "2026-10-20", last: "2026-11-18" };
  expect([reaches(books, "2026-11-01"), reaches(books, "2026-10-01"), reaches(books, undefined)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(reaches({ first: undefined, last: undefined }, "2026-10-31")).toBe(false);
  expect(reaches({ first: "2026-10-03", last: "2026-11-18" }, "2026-10-01")).toBe(true);
  expect(reaches({ first: "2026-10-08", last: "2026-11-18" }, "2026-10-01")).toBe(false);
});

it("says how to begin where nothing was ever brought in", () => {
  expect(nothingIn(november, { first: null, last: null })).toMatchObject({ title: "No transactions yet", empty: true });
});
