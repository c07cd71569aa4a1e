import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { nothing } from "./addKnown";
import type { Item, Sent } from "./addQueue";

/** A fake database with two stores and the few functions that the queue uses. */
function database() {
  const stores: Record<string, Map<string, unknown>> = { queue: new Map(), known: new Map() };
  const request = (result: unknown) => {
    const r = { result, onsuccess: () => {} };
    setTimeout(() => r.onsuccess());
    return r;
  };
  const store = (all: Map<string, unknown>) => ({
    getAll: () => ({ result: [...all.values()] }),
    get: (key: string) => ({ result: all.get(key) }),
    put: (v: { id?: string }, key?: string) => ({ result: all.set(key ?? v.id ?? "", v) }),
    delete: (key: string) => ({ result: all.delete(key) }),
  });
  const transaction = (name: string) => {
    const tx = { oncomplete: () => {}, objectStore: () => store(stores[name] as Map<string, unknown>) };
    setTimeout(() => tx.oncomplete());
    return tx;
  };
  return { open: () => request({ transaction }) };
}

const item = (id: string, user: string, at = 1): Item => ({
  id,
  user,
  at,
  currency: "EUR",
  body: { account_id: "acc", amount: 5, date: "2026-01-02", payee: id },
});

let page: EventTarget;
let signedIn: string | null;
let posted: string[];
/** Called when a payment arrives, before the fake server handles it. */
let arriving: () => void;

beforeEach(() => {
  page = new EventTarget();
  signedIn = "anna";
  posted = [];
  arriving = () => {};
  vi.resetModules();
  vi.stubGlobal("indexedDB", database());
  vi.stubGlobal("navigator", { serviceWorker: { register: () => Promise.resolve() } });
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    if (path === "/auth/session")
      return Response.json(signedIn ? { signed_in: true, user: { id: signedIn } } : { signed_in: false });
    arriving();
    const meant = new Headers(init.headers).get("Coffer-Member");
    if (!signedIn || (meant && meant !== signedIn)) return Response.json({}, { status: signedIn ? 409 : 401 });
    posted.push(JSON.parse(String(init.body)).reference);
    return Response.json({}, { headers: { "Coffer-Change": "chg" } });
  });
});
afterEach(() => vi.unstubAllGlobals());

it("gives each person their own, oldest first, and nobody none", async () => {
  const q = await import("./addQueue");
  for (const i of [item("b", "anna", 2), item("c", "ben"), item("a", "anna"), item("d", "")]) await q.keep(i);
  const ids = async (user?: string | null) => (await q.waiting(user)).map((i) => i.id);
  expect(await ids("anna")).toEqual(["a", "b"]);
  expect(await ids("ben")).toEqual(["c"]);
  expect([await ids(), await ids(null), await ids("")]).toEqual([[], [], []]);
});

it("sends those of the person who is signed in, and nobody else's", async () => {
  const q = await import("./addQueue");
  await q.keep(item("a", "anna"));
  await q.keep(item("c", "ben"));
  await q.keep({ ...item("f", "anna"), fault: "No such account." });
  expect(await q.send()).toEqual({ done: new Map([["a", "chg"]]), user: "anna" });
  expect(posted).toEqual(["a"]);
  signedIn = null;
  expect(await q.send()).toEqual({ done: new Map(), waits: "signed-out" });
  signedIn = "ben";
  await q.send();
  expect(posted).toEqual(["a", "c"]);
  expect(await q.waiting("anna")).toHaveLength(1);
});

it("stops when somebody else signs in meanwhile, and keeps the rest", async () => {
  const q = await import("./addQueue");
  for (let n = 0; n < 5; n++) await q.keep(item(`a${n}`, "anna", n));
  await q.keep(item("b", "ben"));
  arriving = () => {
    if (posted.length === 2) signedIn = "ben";
  };
  expect(await q.send()).toEqual({
    done: new Map(["a0", "a1"].map((id) => [id, "chg"])),
    user: "ben",
    waits: "offline",
  });
  expect(posted).toEqual(["a0", "a1"]);
  expect((await q.waiting("anna")).map((i) => [i.id, i.fault])).toEqual(
    ["a2", "a3", "a4"].map((id) => [id, undefined]),
  );
  arriving = () => {};
  await q.send();
  expect(posted).toEqual(["a0", "a1", "b"]);
  signedIn = "anna";
  await q.send();
  expect(posted).toEqual(["a0", "a1", "b", "a2", "a3", "a4"]);
  expect([await q.waiting("anna"), await q.waiting("ben")]).toEqual([[], []]);
});

it("forgets the names of the person before, and no one's own", async () => {
  const q = await import("./addQueue");
  await q.remember("anna", nothing());
  await q.handOver("anna");
  expect((await q.remembered())?.user).toBe("anna");
  await q.handOver("ben");
  expect(await q.remembered()).toBeUndefined();
});

it("sends nothing more after it was stopped", async () => {
  const q = await import("./addQueue");
  const results: Sent[] = [];
  const stop = q.whenever((s) => results.push(s));
  await vi.waitFor(() => expect(results).toHaveLength(1));
  await q.keep(item("a", "anna"));
  page.dispatchEvent(new Event("online"));
  await vi.waitFor(() => expect(results).toHaveLength(2));
  await q.keep(item("b", "anna"));
  stop();
  page.dispatchEvent(new Event("online"));
  document.dispatchEvent(new Event("visibilitychange"));
  await new Promise((yes) => setTimeout(yes, 50));
  expect(posted).toEqual(["a"]);
  expect(results).toHaveLength(2);
});

it("does not report what it was sending when it was stopped", async () => {
  const q = await import("./addQueue");
  const onSent = vi.fn();
  q.whenever(onSent)();
  await new Promise((yes) => setTimeout(yes, 50));
  expect(onSent).not.toHaveBeenCalled();
});

it("makes its policy once", async () => {
  const q = await import("./addQueue");
  const createPolicy = vi.fn((_: string, rules: object) => rules);
  vi.stubGlobal("window", { trustedTypes: { createPolicy } });
  await q.install();
  await q.install();
  expect(createPolicy).toHaveBeenCalledTimes(1);
});

it("knows the account that this person added to last", async () => {
  const { lastUsed, remember } = await import("./addQueue");
  expect(await lastUsed("anna")).toBeUndefined();
  await remember("anna", { ...nothing(), last: "purse" });
  expect(await lastUsed("anna")).toBe("purse");
  expect(await lastUsed("daniel")).toBeUndefined();
});
