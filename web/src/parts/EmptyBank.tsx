import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { type Connection, removeConnection } from "#/api/connections";
import { fromFiles } from "#/lib/provider";
import { Button } from "#/ui/Button";
import { Note } from "#/ui/Form";
import { useAction } from "./useAction";

/**
 * Whether a bank for uploaded files has no accounts left. Undoing an import removes its account, but only a person
 * removes the bank.
 */
export const emptied = (b: Connection) => fromFiles(b) && b.status === "active" && b.accounts_count === 0;

/** Says why a bank is empty, and what to do with it. */
export function EmptyBank({ bank: b, link }: { bank: Connection; link?: boolean }) {
  const name = b.institution_name ?? t`This bank`;
  const remove = useAction({
    act: () => removeConnection(b.id),
    touches: ["connections", "sync", "overview", "accounts"],
    text: t({ message: `${name} removed`, context: "a bank" }),
  });
  return (
    <Note>
      <span className="grow">
        {b.last_sync_at ? (
          <Trans>
            <bdi>{name}</bdi> has no accounts because its import was undone.
          </Trans>
        ) : (
          <Trans>
            <bdi>{name}</bdi> has no accounts. No statement imported yet.
          </Trans>
        )}
      </span>
      {link && (
        <Link className="link" to="/import" search={{}}>
          <Trans>Import statement</Trans>
        </Link>
      )}
      <Button icon="trash" disabled={remove.isPending} onClick={() => remove.mutate()}>
        <Trans>Remove bank</Trans>
      </Button>
    </Note>
  );
}
