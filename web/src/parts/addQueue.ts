import type { Known } from "./addKnown";

/**
 * The queue of transactions to send. Each is stored on the device until the server has it. The server knows a
 * transaction by its reference, so it is stored only once, even if it is sent several times.
 */
export type Body = {
  account_id: string;
  amount: number;
  date: string;
  payee: string;
  category?: string;
  detail?: string;
};

export type Item = {
  /** Both the transaction's reference and its Idempotency-Key. */
  id: string;
  /** The member who added it. The queue never sends it while someone else is signed in. */
  user: string;
  /** When it was added, in milliseconds. Items are sent in this order. */
  at: number;
  body: Body;
  /** The account's currency, to show the amount while the item waits. */
  currency: string;
  /** Why the server refused it. It is not sent again, and stays until somebody removes it. */
  fault?: string;
};

/**
 * The result of sending: the ids of the sent items with the changes that undo them, the signed-in member if the server
 * was asked, and why the rest waits.
 */
export type Sent = { done: Map<string, string>; user?: string; waits?: "offline" | "signed-out" };

let opened: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((yes, no) => {
    const r = indexedDB.open("coffer", 1);
    r.onupgradeneeded = () => {
      r.result.createObjectStore("queue", { keyPath: "id" });
      r.result.createObjectStore("known");
    };
    r.onsuccess = () => yes(r.result);
    r.onerror = () => no(r.error);
  });
  opened.catch(() => {
    opened = undefined;
  });
  return opened;
}

async function run<T>(store: string, mode: IDBTransactionMode, f: (s: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await database();
  return new Promise((yes, no) => {
    const tx = db.transaction(store, mode, mode === "readwrite" ? { durability: "strict" } : undefined);
    const r = f(tx.objectStore(store));
    tx.oncomplete = () => yes(r.result);
    tx.onerror = () => no(tx.error);
    tx.onabort = () => no(tx.error);
  });
}

const everybodys = (): Promise<Item[]> => run("queue", "readonly", (s) => s.getAll());

/**
 * The waiting items of a member, oldest first. Several people may share a phone, so nobody sees the items of others.
 */
export async function waiting(user: string | null | undefined): Promise<Item[]> {
  if (!user) return [];
  const own = (await everybodys()).filter((i) => i.user === user);
  return own.sort((a, b) => a.at - b.at || a.id.localeCompare(b.id));
}

export const keep = (i: Item) => run("queue", "readwrite", (s) => s.put(i));
export const drop = (id: string) => run("queue", "readwrite", (s) => s.delete(id));

/** Stores what the page shows without a network: the accounts, payees and categories of the last visit. */
export const remember = (user: string, known: Known) => run("known", "readwrite", (s) => s.put({ user, known }, "it"));
export const remembered = (): Promise<{ user: string; known: Known } | undefined> =>
  run("known", "readonly", (s) => s.get("it"));

/** The account to which this member last added a transaction on this device. */
export const lastUsed = async (user: string) => {
  const stored = await remembered().catch(() => undefined);
  return stored?.user === user ? stored.known.last : undefined;
};

/**
 * Deletes stored names that belong to another member. Without a network, the page shows them to anyone who opens it.
 */
export async function handOver(user: string) {
  const stored = await remembered();
  if (stored && stored.user !== user) await run("known", "readwrite", (s) => s.delete("it"));
}

/** The id of the signed-in member; null if nobody is signed in, undefined if the server did not respond. */
export async function whoIs(): Promise<string | null | undefined> {
  try {
    const r = await fetch("/auth/session", { credentials: "same-origin" });
    if (!r.ok) return undefined;
    const s = (await r.json()) as { signed_in: boolean; user?: { id: string } };
    return s.signed_in ? (s.user?.id ?? null) : null;
  } catch {
    return undefined;
  }
}

type Refusal = { error?: { message?: string; details?: { message: string }[] } };

/** Why the server refuses an item for good; undefined if another attempt may succeed. */
async function refused(r: Response): Promise<string | undefined> {
  if (r.status < 400 || r.status >= 500 || [401, 408, 409, 425, 429].includes(r.status)) return undefined;
  const body = (await r.json().catch(() => ({}))) as Refusal;
  return body.error?.details?.[0]?.message ?? body.error?.message ?? r.statusText;
}

async function post(i: Item): Promise<Response | undefined> {
  try {
    return await fetch("/api/v1/transactions", {
      method: "POST",
      credentials: "same-origin",
      // The server refuses this with 409 if someone else has signed in meanwhile.
      headers: { "Content-Type": "application/json", "Idempotency-Key": i.id, "Coffer-Member": i.user },
      body: JSON.stringify({ ...i.body, reference: i.id }),
    });
  } catch {
    return undefined;
  }
}

async function sendAll(): Promise<Sent> {
  const done = new Map<string, string>();
  if (!(await everybodys()).some((i) => !i.fault)) return { done }; // saves the request for the session
  const user = await whoIs();
  if (!user) return { done, waits: user === null ? "signed-out" : "offline" };
  for (const i of await waiting(user)) {
    if (i.fault) continue;
    const r = await post(i);
    if (r?.ok) {
      await drop(i.id);
      done.set(i.id, r.headers.get("Coffer-Change") ?? "");
      continue;
    }
    const fault = r && (await refused(r));
    if (fault === undefined) {
      const now = r?.status === 409 ? await whoIs() : r?.status === 401 ? null : user;
      return { done, user: now ?? user, waits: now === null ? "signed-out" : "offline" };
    }
    await keep({ ...i, fault });
  }
  return { done, user };
}

/** Sends the waiting items. Only one tab of a browser sends at a time. */
export const send = (): Promise<Sent> =>
  navigator.locks ? navigator.locks.request("coffer-queue", sendAll) : sendAll();

type Policy = { createScriptURL(s: string): string };
type Policies = { createPolicy(n: string, r: object): Policy };

/** Stored, because the browser throws if a policy of the same name is created twice. */
let policy: Policy | undefined;

/**
 * Installs the service worker, which stores the app's files in the browser. The page's policy allows no other script
 * URL.
 */
export async function install() {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  const path = "/sw.js";
  const types = (window as { trustedTypes?: Policies }).trustedTypes;
  const createScriptURL = (s: string) => {
    if (s !== path) throw new TypeError("not the service worker");
    return s;
  };
  if (types) policy ??= types.createPolicy("coffer", { createScriptURL });
  const url = policy?.createScriptURL(path) ?? path;
  await navigator.serviceWorker.register(url).catch(() => {}); // without it, the app works only with a network
}

const soon = 2000;
const late = 60_000;

/**
 * Sends waiting items now, when the network returns, when the page becomes visible, and again after a failure. Returns
 * the function that stops this.
 */
export function whenever(onSent: (s: Sent) => void): () => void {
  const end = new AbortController();
  const { signal } = end;
  let pause = soon;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const go = async () => {
    clearTimeout(timer);
    const s = await send().catch((): Sent => ({ done: new Map(), waits: "offline" }));
    if (signal.aborted) return;
    onSent(s);
    pause = s.done.size || !s.waits ? soon : Math.min(pause * 2, late);
    clearTimeout(timer); // another run may have set a timer meanwhile
    // Another tab may have added items, so this repeats even if nothing waits.
    timer = setTimeout(() => void go(), s.waits && document.visibilityState === "visible" ? pause : late);
  };
  addEventListener("online", () => void go(), { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && void go(), { signal });
  void go();
  return () => {
    end.abort();
    clearTimeout(timer);
  };
}
