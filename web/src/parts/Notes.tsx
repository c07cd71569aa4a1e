import { Link } from "@tanstack/react-router";
import type { Schemas } from "#/api/client";
import { dayShort, localDay } from "#/lib/dates";
import { Note } from "#/ui/Form";
import { sentence } from "./edit";

const told = ["links_proposed", "stale", "data_ends", "no_balance"];

/** A note in the words of the screens: payments, and days as they are said. */
const plain = (message: string) =>
  sentence(message)
    .replace(/\d{4}-\d\d-\d\d/g, (day) => dayShort(day, localDay(new Date())))
    .replace(/\btransaction(s?)\b/g, "payment$1");

/** What figures do not say by themselves, with the way to what would mend it. */
export function Notes({ notes }: { notes: readonly Schemas["Note"][] | undefined }) {
  return notes
    ?.filter((n) => told.includes(n.code))
    .map((n) => (
      <Note key={n.code + n.message} mood={n.code === "data_ends" ? "info" : "warn"}>
        <span className="grow">{plain(n.message)}</span>
        {n.code === "links_proposed" && (
          <Link className="link" to="/links" search={{}}>
            Look at them
          </Link>
        )}
        {(n.code === "stale" || n.code === "no_balance") && (
          <Link className="link" to="/accounts" search={{}}>
            Accounts
          </Link>
        )}
      </Note>
    ));
}
