import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "#/api/client";
import { dayShort, localDay } from "#/lib/dates";
import { Note } from "#/ui/Form";
import { sentence } from "./edit";

const shown = ["links_proposed", "stale", "data_ends", "no_balance", "recurring_only"];
const plainly = ["data_ends", "recurring_only"]; // codes of notes that report no problem

/** The text of a note in the reader's language. A code that this page does not know has the server's text. */
export function noteText({ code, count, message }: Schemas["Note"]): string {
  const n = count ?? 0;
  const day = /\d{4}-\d\d-\d\d/.exec(message)?.[0];
  switch (code) {
    case "links_proposed":
      return t`Some suggested account links need review. Until then, totals may count transfers or duplicates twice.`;
    case "stale":
      return plural(n, { one: "# bank hasn’t synced for days.", other: "# banks haven’t synced for days." });
    case "no_balance":
      return plural(n, {
        one: "# account has no balance and isn’t included. Enter one.",
        other: "# accounts have no balance and aren’t included. Enter one.",
      });
    case "recurring_only":
      return t`The lowest balances only include recurring payments. Leave room for everyday spending, such as groceries.`;
    case "data_ends": {
      if (!day) break;
      const shown = dayShort(day, localDay(new Date()));
      return message.includes("starts") ? t`Data starts on ${{ day: shown }}.` : t`Data ends on ${{ day: shown }}.`;
    }
  }
  return sentence(message);
}

/** Notes about figures, each with a link to fix the cause. */
export function Notes({ notes }: { notes: readonly Schemas["Note"][] | undefined }) {
  return notes
    ?.filter((n) => shown.includes(n.code))
    .map((n) => (
      <Note key={n.code + n.message} mood={plainly.includes(n.code) ? "info" : "warn"}>
        <span className="grow">{noteText(n)}</span>
        {n.code === "links_proposed" && (
          <Link className="link" to="/review/links" search={{}}>
            <Trans>Review</Trans>
          </Link>
        )}
        {(n.code === "stale" || n.code === "no_balance") && (
          <Link className="link" to="/accounts" search={{}}>
            <Trans>Go to accounts</Trans>
          </Link>
        )}
      </Note>
    ));
}
