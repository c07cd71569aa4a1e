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
  /** Why the server does not take it. It is not sent again, but edited or removed. */
  fault?: string;
};

/** What came of sending: those that are in, with the changes that undo them, and why the rest waits. */
export type Sent = { done: Map<string, string>; waits?: "offline" | "signed-out" };

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

/** Those that wait, oldest first. */
export async function waiting(): Promise<Item[]> {
  const all = (await run("queue", "readonly", (s) => s.getAll())) as Item[];
  return all.sort((a, b) => a.at - b.at || a.id.localeCompare(b.id));
}

export const keep = (i: Item) => run("queue", "readwrite", (s) => s.put(i));
export const drop = (id: string) => run("queue", "readwrite", (s) => s.delete(id));

/** Names that the page needs without a network: accounts, payees and categories as they were last. */
export const remember = (user: string, known: unknown) =>
  run("known", "readwrite", (s) => s.put({ user, known }, "it"));
export const remembered = () => run("known", "readonly", (s) => s.get("it"));

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
  const said = (await r.json().catch(() => ({}))) as Refusal;
  return said.error?.details?.[0]?.message ?? said.error?.message ?? r.statusText;
}

async function post(i: Item): Promise<Response | undefined> {
  try {
    return await fetch("/api/v1/transactions", {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "Idempotency-Key": i.id },
      body: JSON.stringify({ ...i.body, reference: i.id }),
    });
  } catch {
    return undefined;
  }
}

async function sendAll(): Promise<Sent> {
  const done = new Map<string, string>();
  const all = (await waiting()).filter((i) => !i.fault);
  if (!all.length) return { done };
  const user = await whoIs();
  if (!user) return { done, waits: user === null ? "signed-out" : "offline" };
  for (const i of all) {
    if (i.user !== user) continue;
    const r = await post(i);
    if (r?.ok) {
      await drop(i.id);
      done.set(i.id, r.headers.get("Coffer-Change") ?? "");
      continue;
    }
    const fault = r && (await refused(r));
    if (fault === undefined) return { done, waits: r?.status === 401 ? "signed-out" : "offline" };
    await keep({ ...i, fault });
  }
  return { done };
}

/** Sends what waits. One tab of a browser does it at a time. */
export const send = (): Promise<Sent> =>
  navigator.locks ? navigator.locks.request("coffer-queue", sendAll) : sendAll();

type Policies = { createPolicy(n: string, r: object): { createScriptURL(s: string): string } };

/** Lets the browser keep the app's files. The policy of the page allows this one script and no other. */
export async function install() {
  if (!("serviceWorker" in navigator) || !isSecureContext) return;
  const path = "/sw.js";
  const types = (window as { trustedTypes?: Policies }).trustedTypes;
  const createScriptURL = (s: string) => {
    if (s !== path) throw new TypeError("not the service worker");
    return s;
  };
  const url = types ? types.createPolicy("coffer", { createScriptURL }).createScriptURL(path) : path;
  await navigator.serviceWorker.register(url).catch(() => {}); // without it, everything works while there is a network
}

const soon = 2000;
const late = 60_000;

/** Sends what waits now, when the network is back, when somebody looks at the page, and again if that fails. */
export function whenever(told: (s: Sent) => void) {
  let pause = soon;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const go = async () => {
    clearTimeout(timer);
    const s = await send().catch((): Sent => ({ done: new Map(), waits: "offline" }));
    told(s);
    pause = s.done.size || !s.waits ? soon : Math.min(pause * 2, late);
    // Another tab may have put something down, so it looks now and then in any case.
    timer = setTimeout(() => void go(), s.waits && document.visibilityState === "visible" ? pause : late);
  };
  addEventListener("online", () => void go());
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && void go());
  void go();
}
