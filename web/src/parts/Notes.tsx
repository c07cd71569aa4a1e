import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "#/api/client";
import { dayShort, localDay } from "#/lib/dates";
import { Note } from "#/ui/Form";
import { sentence } from "./edit";

const told = ["links_proposed", "stale", "data_ends", "no_balance", "recurring_only"];
const plainly = ["data_ends", "recurring_only"]; // nothing is wrong

/** The server's note, with days as screens show them. */
const plain = (message: string) =>
  sentence(message).replace(/\d{4}-\d\d-\d\d/g, (day) => dayShort(day, localDay(new Date())));

/** Remarks about figures, each with a link to fix the cause. */
export function Notes({ notes }: { notes: readonly Schemas["Note"][] | undefined }) {
  return notes
    ?.filter((n) => told.includes(n.code))
    .map((n) => (
      <Note key={n.code + n.message} mood={plainly.includes(n.code) ? "info" : "warn"}>
        <span className="grow">{plain(n.message)}</span>
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
