import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Endpoint, Notification } from "#/api/notifications";
import { text } from "#/lib/money";
import { typed } from "#/lib/typed";
import type { Mood } from "#/ui/Chip";

type EventType = Endpoint["events"][number];

/** The types of notifications that a webhook can subscribe to, in words. */
const types: Record<EventType, MessageDescriptor> = {
  "connection.needs_sign_in": msg`Bank needs reconnecting`,
  "connection.expiring": msg`Bank access expiring`,
  "sync.failed": msg`Bank sync failed`,
  "charge.large": msg`Large transaction`,
  "balance.low": msg`Low balance`,
  "review.waiting": msg`Transactions to review`,
  "recurring.price_changed": msg`Recurring price change`,
  "recurring.missed": msg`Missed recurring payment`,
  "books.gap": msg`Balance mismatch`,
  "report.submitted": msg`New report`,
  "rule.proposed": msg`Suggested rule`,
  "backup.overdue": msg`Backup overdue`,
};

export const offered = Object.keys(types) as EventType[];

/** The types that lists show. Test messages appear there too. */
const listed: Record<string, MessageDescriptor> = { ...types, "endpoint.test": msg`Test message` };

export const typeName = (type: string) => (listed[type] ? i18n._(listed[type]) : type);

/** The host of an address, because the rest of the address may be secret. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** The events that a webhook gets, or why it is off. */
export function endpointHint(e: Endpoint): string {
  if (!e.enabled) {
    if (e.disabled_reason === "gone") return t`Off: the receiver unsubscribed`;
    if (e.disabled_reason === "failing") return t`Off: three messages in a row failed`;
    return t({ message: "Off", context: "a webhook" });
  }
  const what = e.events.length === 0 ? t`All events` : e.events.map(typeName).join(" · ");
  return e.content === "full" ? `${what} · ${t`includes bank names`}` : what;
}

/** The status of a notification: the worst of its deliveries. */
export function deliveryStatus(n: Notification): { mood: Mood; word: string; why: string | null } {
  const all = n.deliveries;
  const why = all.find((d) => d.last_error)?.last_error ?? null;
  if (all.length === 0) return { mood: "plain", word: t`No recipients`, why: null };
  if (all.some((d) => d.state === "failed")) return { mood: "bad", word: t`Failed`, why };
  if (all.some((d) => d.state === "pending")) return { mood: "pending", word: t`Sending`, why };
  return { mood: "in", word: t`Delivered`, why: null };
}

type Limit = { iso_currency_code: string; amount: number };

/** The limits, with another amount for one currency; without an amount, the currency's limit is removed. */
export function limits(all: readonly Limit[], currency: string, entered: string): Limit[] {
  const others = all.filter((l) => l.iso_currency_code !== currency);
  const amount = typed(entered);
  return amount === null ? others : [...others, { iso_currency_code: currency, amount: Number(text(amount)) }];
}
