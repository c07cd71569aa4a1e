import { expect, it } from "vitest";
import { number, truer } from "./counts";
import { closing, closingAll, filedUnder, groupOf, inOrder, reasonOf, refused } from "./groups";
import { sizeOf } from "./words";

const group = (x: object = {}) =>
  ({
    payee: "abc",
    payee_name: "Rewe",
    counterparty_id: null,
    count: 3,
    pending: 0,
    first_date: "2026-11-01",
    last_date: "2026-11-15",
    accounts: ["a1"],
    amounts: [{ iso_currency_code: "EUR", min: 1, median: 2, max: 3, total: 6.1 }],
    categories: [{ category: "food", source: "provider", count: 3 }],
    suggestion: null,
    sample: [],
    ...x,
  }) as never;
const suggested = { category: "home", basis: "person", agree: 14, of: 15 };

it("suggests what people chose before, and says how often", () => {
  const g = groupOf(group({ suggestion: suggested }));
  expect([g.files?.category, g.sure, g.others, reasonOf(g)]).toEqual([
    "home",
    true,
    ["food"],
    "People chose this 14 of 15 times",
  ]);
  expect(closing(g)).toEqual({
    filter: { tags: ["needs-review"], excluded: false, payee: "abc", counterparty_id: "none" },
    set: { tags_to_remove: ["needs-review"], category: "home" },
    expect: 3,
  });
});

it("writes no category where they have it already", () => {
  const g = groupOf(group({ categories: [{ category: "home", source: "rule", count: 3 }], suggestion: suggested }));
  expect(closing(g).set).toEqual({ tags_to_remove: ["needs-review"] });
  expect(closing(g, "food").set).toEqual({ tags_to_remove: ["needs-review"], category: "food" });
});

it("closes several payees at once, and knows which of them was refused", () => {
  const all = [
    groupOf(group({ suggestion: suggested })),
    groupOf(
      group({
        payee_name: "Shell",
        counterparty_id: "c1",
        count: 5,
        pending: 1,
        categories: [{ category: "home", source: "rule" }],
      }),
    ),
  ];
  expect(closingAll(all)).toEqual([
    { payee: "abc", category: "home", expect: 3 },
    { counterparty_id: "c1", expect: 4 },
  ]);
  expect(refused(all, [{ field: "groups[1]" }])).toBe("Shell");
  expect([refused(all, []), refused(all.slice(0, 1), [])]).toEqual(["A payee", "Rewe"]);
});

it("lets few transactions with the bank's category be approved with others like them", () => {
  const food = (count: number, source: string | null, more = {}) =>
    groupOf(group({ count, categories: [{ category: source && "food", source, count }], ...more }));
  expect([1, 2, 3].map((n) => food(n, "provider").small)).toEqual([true, true, false]);
  expect(food(1, "rule")).toMatchObject({ small: false, sure: true });
  expect(food(2, null)).toMatchObject({ small: false, open: true });
  expect([food(2, "provider", { pending: 1 }).small, food(2, "provider", { pending: 2 }).small]).toEqual([true, false]);
  const two = [
    { category: "food", source: "provider", count: 1 },
    { category: "fun", source: "provider", count: 1 },
  ];
  expect(groupOf(group({ count: 2, categories: two })).small).toBe(false);
  const order = inOrder([
    group({ payee: "one", count: 1 }),
    group({ payee: "many" }),
    group({ payee: "known", suggestion: suggested }),
  ]);
  expect(order.map((g) => g.payee)).toEqual(["known", "many", "one"]);
});

it("counts the same in the navigation while transactions are being closed", () => {
  const late = { count: 291, at: 20 }; // requested before the last two were closed
  expect(truer({ count: 286, at: 10, closing: true }, late)).toBe(286);
  expect(truer({ count: 286, at: 10, closing: false }, late)).toBe(291);
  expect(truer({ count: 286, at: 30, closing: false }, late)).toBe(286);
});

it("counts a part of the list as its button does", () => {
  const some = [groupOf(group()), groupOf(group({ count: 4, pending: 1 }))];
  expect([sizeOf(some), number(some)]).toEqual(["2 payees, 6 transactions, 1 pending", 6]);
  expect(sizeOf([groupOf(group({ count: 1, pending: 1 }))])).toBe("1 payee, 1 pending");
});

it("is not sure of a bank's category, of several categories, and of none", () => {
  expect(groupOf(group()).sure).toBe(false);
  const mixed = groupOf(
    group({
      categories: [
        { category: "food", source: "provider", count: 2 },
        { category: "fun", source: "provider", count: 1 },
      ],
    }),
  );
  expect([mixed.files, mixed.open, mixed.others, reasonOf(mixed)]).toEqual([
    null,
    false,
    ["food", "fun"],
    "Approving keeps both categories",
  ]);
  const none = groupOf(group({ categories: [{ category: null, source: null, count: 3 }] }));
  expect([none.files, none.open, none.sure]).toEqual([null, true, false]);
});

it("adds up each category, no matter who set it", () => {
  const categories = [
    { category: "fun", source: "rule", count: 4 },
    { category: "food", source: "provider", count: 3 },
    { category: "food", source: "user", count: 2 },
  ];
  expect(filedUnder(group({ categories }))).toEqual([
    { category: "food", count: 5 },
    { category: "fun", count: 4 },
  ]);
});

it("leaves pending transactions out of what it closes, and goes by the counterparty", () => {
  const g = groupOf(group({ pending: 1, counterparty_id: "c1" }));
  expect(closing(g).expect).toBe(2);
  expect(closing(g).filter).toEqual({ tags: ["needs-review"], excluded: false, counterparty_id: "c1" });
});

it("puts what is sure first", () => {
  expect(
    inOrder([group({ payee_name: "A" }), group({ payee_name: "B", suggestion: suggested })]).map((g) => g.payee_name),
  ).toEqual(["B", "A"]);
});

it("offers a payee without a suggestion the categories of others of its direction", () => {
  const unknown = { payee_name: "?", categories: [{ category: null, source: null, count: 1 }] };
  const wage = {
    categories: [{ category: "wage", source: "provider", count: 1 }],
    amounts: [{ iso_currency_code: "EUR", min: -9, median: -9, max: -9, total: -9 }],
  };
  const all = [group(unknown), group(wage), group({ suggestion: suggested }), group(), group()];
  const others = (picked: string[]) => inOrder(all, picked).find((g) => g.payee_name === "?")?.others;
  expect(others([])).toEqual(["food", "home"]);
  expect(others(["home", "wage"])).toEqual(["home", "food"]);
});

it("names a payee of which the bank says nothing", () => {
  expect(groupOf(group({ payee_name: "" })).payee_name).toBe("No description");
});
