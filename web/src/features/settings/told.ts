import type { Endpoint, Told } from "#/api/notifications";
import type { Mood } from "#/ui/Chip";

/** The types of notifications, in words. */
export const types: Record<string, string> = {
  "connection.needs_sign_in": "A bank needs a new sign-in",
  "connection.expiring": "Access to a bank ends soon",
  "sync.failed": "A bank cannot be read",
  "charge.large": "A large payment",
  "balance.low": "A low balance",
  "review.waiting": "Payments wait for review",
  "recurring.price_changed": "A recurring payment changed its amount",
  "recurring.missed": "A recurring payment is late",
  "books.gap": "The books do not add up",
  "report.submitted": "A new report",
  "rule.proposed": "A proposed rule",
  "endpoint.test": "Test message",
};

/** Those that an address can be given. */
export const offered = [
  "connection.needs_sign_in",
  "connection.expiring",
  "sync.failed",
  "charge.large",
  "balance.low",
  "review.waiting",
  "recurring.price_changed",
  "recurring.missed",
  "books.gap",
  "report.submitted",
  "rule.proposed",
] as const;

export const called = (type: string) => types[type] ?? type;

/** Where an address leads, without what may be secret in it. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** What an endpoint takes, and how it does. */
export function endpointHint(e: Endpoint): string {
  if (!e.enabled) {
    if (e.disabled_reason === "gone") return "Turned off: it wants no more messages";
    if (e.disabled_reason === "failing") return "Turned off: three messages in a row did not arrive";
    return "Turned off";
  }
  const what = e.events.length === 0 ? "Everything" : e.events.map(called).join(" · ");
  return e.content === "full" ? `${what} · with names from banks` : what;
}

/** How a notification fared: the worst of its deliveries. */
export function fared(n: Told): { mood: Mood; word: string; why: string | null } {
  const all = n.deliveries;
  const why = all.find((d) => d.last_error)?.last_error ?? null;
  if (all.length === 0) return { mood: "plain", word: "Nobody to tell", why: null };
  if (all.some((d) => d.state === "failed")) return { mood: "bad", word: "Not delivered", why };
  if (all.some((d) => d.state === "pending")) return { mood: "pending", word: "On its way", why };
  return { mood: "in", word: "Delivered", why: null };
}

type Limit = { iso_currency_code: string; amount: number };

/** The limits with another one for a currency; those of other currencies stay. */
export function limits(all: readonly Limit[], currency: string, typed: string): Limit[] {
  const others = all.filter((l) => l.iso_currency_code !== currency);
  const amount = Number(typed.replace(",", "."));
  return typed === "" ? others : [...others, { iso_currency_code: currency, amount }];
}
