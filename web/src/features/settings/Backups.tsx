import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { household } from "#/api/settings";
import { since } from "#/lib/dates";
import { Card } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Facts } from "#/ui/Page";

/** The time of the last backup. Backups are made by the server or a command, not on this page. */
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
        <p className="small dim" style={{ marginTop: "var(--s-2)" }}>
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
