import { Link } from "@tanstack/react-router";
import { type Connection, removeConnection } from "#/api/connections";
import { Button } from "#/ui/Button";
import { Note } from "#/ui/Form";
import { useDeed } from "./deed";

/** A bank of files in which nothing is left. Undoing an import takes its account; only a person removes a bank. */
export const emptied = (b: Connection) => b.provider === "csv" && b.status === "active" && b.accounts_count === 0;

/** Why a bank is empty, and what can be done with it. */
export function EmptyBank({ bank: b, link }: { bank: Connection; link?: boolean }) {
  const name = b.institution_name ?? "The bank";
  const remove = useDeed({
    act: () => removeConnection(b.id),
    touches: ["connections", "sync", "overview", "accounts"],
    said: `${name} was removed`,
  });
  return (
    <Note>
      <span className="grow">
        <bdi>{name}</bdi> has no account:{" "}
        {b.last_sync_at ? "what was imported into it was undone." : "no file was imported into it yet."}
      </span>
      {link && (
        <Link className="link" to="/import" search={{}}>
          Import a file
        </Link>
      )}
      <Button icon="trash" disabled={remove.isPending} onClick={() => remove.mutate()}>
        Remove the empty bank
      </Button>
    </Note>
  );
}
