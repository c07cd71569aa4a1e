import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { household } from "#/api/settings";
import { since } from "#/lib/dates";
import { Card } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Facts } from "#/ui/Page";

/** When the last backup was made. Making one is the server's work, or a command's. */
export function Backups() {
  const { data } = useQuery(household);
  const backup = data?.backup;
  if (!backup) return null;
  const { last_at: last, verified_at: verified } = backup;
  return (
    <Card title={t`Backups`}>
      {(backup.due || !last) && (
        <Note mood={backup.due ? "bad" : "info"}>
          {last ? t`The last backup is too old.` : t`coffer hasn't made a backup yet.`}
        </Note>
      )}
      {!last && (
        <p className="small dim">
          <Trans>
            To make one, run <code className="mono">coffer backup</code> on the server.
          </Trans>
        </p>
      )}
      {last && (
        <Facts
          facts={[
            [t`Last backup`, since(last)],
            [t`Last verified`, verified ? since(verified) : t`Never`],
          ]}
        />
      )}
    </Card>
  );
}
