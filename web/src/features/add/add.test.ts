import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Item, Sent } from "#/parts/addQueue";

const device = vi.hoisted(() => {
  vi.stubGlobal("location", { search: "" });
  return { items: [] as Item[], user: "anna" as string | null | undefined, sent: {} as Partial<Sent>, broken: false };
});

vi.mock("#/parts/addQueue", () => ({
  keep: async (i: Item) => {
    if (device.broken) throw new Error("no database");
    device.items.push(i);
  },
  drop: async (id: string) => {
    device.items = device.items.filter((i) => i.id !== id);
  },
  waiting: async (user: string) => device.items.filter((i) => i.user === user),
  send: async () => ({ done: new Map(), ...device.sent }),
  whoIs: async () => device.user,
  remember: async () => {},
  handOver: async () => {},
}));
vi.mock("#/parts/addKnown", async (real) => ({
  ...(await real<object>()),
  ask: async (user: string) => ({ ...known, accounts: [{ ...known.accounts[0], id: `account of ${user}` }] }),
}));

const { add, onSent } = await import("./add");
const { meet } = await import("./meet");
const { emptyDraft, state } = await import("./state");

const known = {
  accounts: [{ id: "cash", name: "Cash", currency: "EUR", own: true, rank: 0 }],
  payees: [],
  categories: [],
};
const other = { id: "x", user: "ben", at: 1, currency: "EUR", body: { payee: "Ben’s" } } as Item;

beforeEach(() => {
  vi.stubGlobal("navigator", { onLine: true });
  Object.assign(device, { items: [other], user: "anna", sent: { waits: "offline" }, broken: false });
  const draft = { ...emptyDraft(), amount: "12.50", payee: "Bakery" };
  Object.assign(state, { known, user: "anna", owner: "anna", queue: [], shown: "form", draft, busy: false });
  state.done = undefined;
  state.draw = vi.fn();
  state.refill = vi.fn();
});
afterEach(() => vi.unstubAllGlobals());

it("keeps a payment for the person whose accounts the form shows, and shows only theirs", async () => {
  state.user = undefined;
  await add();
  expect(state.shown).toBe("queue");
  expect(state.queue.map((i) => [i.user, i.body.payee])).toEqual([["anna", "Bakery"]]);
  device.items = [other];
  await onSent({ done: new Map() });
  expect([state.queue, state.shown]).toEqual([[], "form"]);
});

it("keeps nothing while nobody is known", async () => {
  state.owner = undefined;
  await add();
  expect(device.items).toEqual([other]);
  expect(state.draft).toMatchObject({ at: "account", payee: "Bakery" });
});

it("can be tried again after the device failed", async () => {
  device.broken = true;
  await add();
  expect([state.busy, state.draft.at]).toEqual([false, ""]);
  expect(state.draft.fault).toContain("can’t keep it");
  vi.stubGlobal("crypto", {});
  await expect(add()).rejects.toThrow();
  expect(state.busy).toBe(false);
});

it("names the field that is at fault", async () => {
  state.draft.payee = " ";
  await add();
  expect(state.draft.at).toBe("payee");
  expect(state.draw).toHaveBeenLastCalledWith("payee");
  state.draft.amount = "x";
  await add();
  expect(state.draft.at).toBe("amount");
});

it("becomes the page of the person who has signed in", async () => {
  Object.assign(state, { shown: "done", queue: [{ ...other, user: "anna" }], done: { item: other, change: "" } });
  Object.assign(state.draft, { account: "cash", category: "food", chose: { category: true, account: true } });
  device.user = "ben";
  await meet();
  expect(state).toMatchObject({ owner: "ben", user: "ben", queue: [other], shown: "form", done: undefined });
  expect(state.known.accounts[0]?.id).toBe("account of ben");
  expect(state.draft).toMatchObject({ amount: "12.50", account: "", category: "", chose: { account: false } });
});

it.each([null, undefined])("stays with the last person if %s is signed in", async (user) => {
  device.user = user;
  await meet();
  expect(state).toMatchObject({ owner: "anna", user, known, queue: [] });
});

it("leaves a payment in the form when somebody else turns out to be signed in", async () => {
  device.user = "ben";
  device.sent = { user: "ben" };
  await add();
  await vi.waitFor(() => expect(state.queue).toEqual([other]));
  expect(device.items).toEqual([other]);
  expect(state).toMatchObject({
    owner: "ben",
    shown: "form",
    busy: false,
    draft: { amount: "12.50", payee: "Bakery" },
  });
});
