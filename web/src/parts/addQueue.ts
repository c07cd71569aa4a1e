import type { Known } from "./addKnown";

/**
 * Payments that are on their way: each is kept on the device before it is sent, and until the server has it. It is in
 * the books once, however often it is sent: the server knows it by its reference.
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
  /** Its reference and its Idempotency-Key. */
  id: string;
  /** Who added it. Somebody else who signs in here does not send it. */
  user: string;
  /** When, in milliseconds: they are sent in this order. */
  at: number;
  body: Body;
  /** Shown with its amount while it waits. */
  currency: string;
  /** Why the server does not take it. It is not sent again, and stays until somebody removes it. */
  fault?: string;
};

/**
 * The result of sending: those that are in, with the changes that undo them, who is signed in if that was asked, and
 * why the rest waits.
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

/** Those of this person that wait, oldest first. A phone may be shared, so nobody gets those of somebody else. */
export async function waiting(user: string | null | undefined): Promise<Item[]> {
  if (!user) return [];
  const own = (await everybodys()).filter((i) => i.user === user);
  return own.sort((a, b) => a.at - b.at || a.id.localeCompare(b.id));
}

export const keep = (i: Item) => run("queue", "readwrite", (s) => s.put(i));
export const drop = (id: string) => run("queue", "readwrite", (s) => s.delete(id));

/** Names that the page needs without a network: accounts, payees and categories as they were last. */
export const remember = (user: string, known: Known) => run("known", "readwrite", (s) => s.put({ user, known }, "it"));
export const remembered = (): Promise<{ user: string; known: Known } | undefined> =>
  run("known", "readonly", (s) => s.get("it"));

/** The account that this person added to last on this device. */
export const lastUsed = async (user: string) => {
  const stored = await remembered().catch(() => undefined);
  return stored?.user === user ? stored.known.last : undefined;
};

/** Forgets the names of somebody else, because without a network the page belongs to the person they were kept for. */
export async function handOver(user: string) {
  const stored = await remembered();
  if (stored && stored.user !== user) await run("known", "readwrite", (s) => s.delete("it"));
}

/** Who is signed in; null for nobody, undefined if the server cannot be asked. */
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

/** Why the server refuses one for good; undefined if another try may succeed. */
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
      // The server refuses it with 409 if somebody else has signed in here since.
      headers: { "Content-Type": "application/json", "Idempotency-Key": i.id, "Coffer-Member": i.user },
      body: JSON.stringify({ ...i.body, reference: i.id }),
    });
  } catch {
    return undefined;
  }
}

async function sendAll(): Promise<Sent> {
  const done = new Map<string, string>();
  if (!(await everybodys()).some((i) => !i.fault)) return { done }; // the server need not be asked who is signed in
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

/** Sends what waits. One tab of a browser does it at a time. */
export const send = (): Promise<Sent> =>
  navigator.locks ? navigator.locks.request("coffer-queue", sendAll) : sendAll();

type Policy = { createScriptURL(s: string): string };
type Policies = { createPolicy(n: string, r: object): Policy };

/** It is kept because the browser throws if a policy of the same name is made twice. */
let policy: Policy | undefined;

/** Lets the browser keep the app's files. The policy of the page allows this one script and no other. */
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
  await navigator.serviceWorker.register(url).catch(() => {}); // without it, everything works while there is a network
}

const soon = 2000;
const late = 60_000;

/**
 * Sends what waits now, when the network is back, when somebody looks at the page, and again if that fails. Returns the
 * function that stops it.
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
    clearTimeout(timer); // of another run that has ended in the meantime
    // Another tab may have put something down, so it looks now and then in any case.
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
