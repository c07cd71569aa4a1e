import { afterAll, beforeEach, expect, it, vi } from "vitest";
import type { Body } from "#/parts/addQueue";

/** A fake element with the few properties that the page uses. */
class Fake extends EventTarget {
  attributes = new Map<string, string>();
  children: (Fake | string)[] = [];
  value = "";
  constructor(public tag: string) {
    super();
  }
  get id() {
    return this.attributes.get("id") ?? "";
  }
  get textContent(): string {
    return this.children.map((c) => (typeof c === "string" ? c : c.textContent)).join("");
  }
  set textContent(s: string) {
    this.children = s ? [s] : [];
  }
  setAttribute(name: string, value: string) {
    this.attributes.set(name, value);
  }
  removeAttribute(name: string) {
    this.attributes.delete(name);
  }
  append(...c: (Fake | string)[]) {
    this.children.push(...c);
  }
  replaceChildren(...c: (Fake | string)[]) {
    this.children = c;
  }
  find(f: (e: Fake) => boolean): Fake {
    const all = (e: Fake): Fake[] => [e, ...e.children.flatMap((c) => (c instanceof Fake ? all(c) : []))];
    const found = all(this).find(f);
    if (!found) throw new Error("it is not there");
    return found;
  }
}

vi.hoisted(() => vi.stubGlobal("location", { search: "" }));
vi.stubGlobal("Node", Fake);
vi.stubGlobal("Option", class extends Fake {});
vi.stubGlobal("navigator", { onLine: true });
const make = (tag: string) => new Fake(tag);
vi.stubGlobal("document", { createElement: make, createElementNS: (_: string, tag: string) => make(tag) });
afterAll(() => vi.unstubAllGlobals());

const { form } = await import("./form");
const { draftOf, success } = await import("./sent");
const { emptyDraft, state } = await import("./state");

const body: Body = {
  account_id: "bank",
  amount: -1250.5,
  date: "2026-01-02",
  payee: "Employer",
  category: "income",
  detail: "Bonus",
};
const item = { id: "i", user: "anna", at: 1, currency: "EUR", body };

beforeEach(() => {
  const account = (id: string) => ({ id, name: id, currency: "EUR", own: true, rank: 0 });
  state.known = {
    accounts: [account("cash"), account("bank")],
    payees: [{ name: "Employer", count: 3, category: "salary", account: "cash" }],
    categories: [],
  };
  Object.assign(state, {
    user: "anna",
    owner: "anna",
    draft: emptyDraft(),
    shown: "done",
    done: { item, change: "chg" },
  });
  state.draw = vi.fn();
});

const drawn = () => form() as unknown as Fake;
const byId = (e: Fake, id: string) => e.find((x) => x.id === id);
const marks = (e: Fake) => [e.attributes.get("aria-invalid"), e.attributes.get("aria-describedby")];

const undone = async (ok: boolean) => {
  vi.stubGlobal("fetch", async () => new Response("{}", { status: ok ? 200 : 503 }));
  const view = success({ item, change: "chg" }) as unknown as Fake;
  const undo = view.find((e) => e.tag === "button" && e.textContent === "Undo");
  undo.dispatchEvent(new Event("click"));
  await new Promise((yes) => setTimeout(yes));
  return view;
};

it("gives the whole payment back when it is undone", async () => {
  await undone(true);
  expect(state.shown).toBe("form");
  const page = {
    amount: "1250.50",
    way: "in",
    payee: "Employer",
    category: "income",
    account: "bank",
    date: "2026-01-02",
    memo: "Bonus",
    chose: { category: true, account: true },
  };
  expect(state.draft).toMatchObject(page);
  drawn();
  expect(state.draft).toMatchObject(page); // the payee does not change it
  expect(draftOf({ ...body, amount: 3, category: undefined })).toMatchObject({
    amount: "3.00",
    way: "out",
    category: "",
  });
});

it("says that an undo failed", async () => {
  const view = await undone(false);
  expect(view.find((e) => e.attributes.get("role") === "alert").textContent).toBe(
    "Can’t undo right now. Try again, or undo it in Activity.",
  );
  expect(state.shown).toBe("done");
});

it("leaves a form alone that is in use again", async () => {
  state.shown = "form";
  state.draft.amount = "7";
  await undone(true);
  expect(state.draft.amount).toBe("7");
});

it("marks the field that is at fault until it changes", () => {
  Object.assign(state.draft, { fault: "Enter a payee.", at: "payee" });
  const view = drawn();
  const sheet = view.find((e) => e.tag === "form");
  /** Sends the form an input event of one of its fields. */
  const change = (id: string) => {
    const target = vi.spyOn(Event.prototype, "target", "get").mockReturnValue(byId(view, id) as never);
    sheet.dispatchEvent(new Event("input"));
    target.mockRestore();
  };
  expect(marks(byId(view, "payee"))).toEqual(["true", "fault"]);
  expect(marks(byId(view, "amount"))).toEqual([undefined, undefined]);
  change("amount");
  expect(marks(byId(view, "payee"))).toEqual(["true", "fault"]);
  change("payee");
  expect(marks(byId(view, "payee"))).toEqual([undefined, undefined]);
  expect(byId(view, "fault").textContent).toBe("");
});
