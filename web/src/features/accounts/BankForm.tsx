import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "#/api/client";
import { type Connection, patchConnection, removeConnection } from "#/api/connections";
import { fromFiles } from "#/lib/provider";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { Fields, Select } from "#/ui/Form";
import { frequencies } from "./frequency";

/** The settings of a bank: how often it syncs, whether it is paused, and how to disconnect it. */
export function BankForm({ bank: b, accounts, least }: { bank: Connection; accounts: number; least: number }) {
  const go = useNavigate();
  const [asking, ask] = useState(false);
  const touches = ["connections", "sync", "overview", "accounts"];
  const change = useAction({
    act: ({ body }: { body: Schemas["PatchConnection"]; text: string }) => patchConnection(b.id, body),
    touches,
    text: (_, v) => v.text,
  });
  const remove = useAction({
    act: async () => {
      await removeConnection(b.id);
      ask(false);
      void go({ to: "/accounts", search: {} });
    },
    touches,
    text: b.institution_name ? t`${{ bank: b.institution_name }} disconnected` : t`Bank disconnected`,
  });
  const { value, options } = frequencies(least, b.sync_interval_seconds);
  return (
    <Card title={t`Sync settings`}>
      <Fields>
        {!fromFiles(b) && (
          <>
            <Select
              label={t`Sync frequency`}
              value={value}
              options={options}
              onChange={(e) =>
                change.mutate({
                  body: { sync_interval_seconds: e.target.value ? Number(e.target.value) : null },
                  text: t`Saved`,
                })
              }
            />
            <Button
              icon={b.paused ? "sync" : "pause"}
              disabled={change.isPending}
              onClick={() =>
                change.mutate({
                  body: { paused: !b.paused },
                  text: b.paused ? t`Syncing resumed` : t`Syncing paused`,
                })
              }
            >
              {b.paused ? t`Resume syncing` : t`Pause syncing`}
            </Button>
          </>
        )}
        <Button kind="fault" icon="trash" onClick={() => ask(true)}>
          <Trans>Disconnect bank…</Trans>
        </Button>
      </Fields>
      <Dialog
        open={asking}
        onClose={() => ask(false)}
        title={b.institution_name ? t`Disconnect ${{ bank: b.institution_name }}?` : t`Disconnect this bank?`}
      >
        <DialogBody>
          <p>
            <Trans>
              <strong>Ends:</strong> coffer’s access to this bank. No new transactions until you connect it again.
            </Trans>
          </p>
          <p>
            <Trans>
              <strong>Kept:</strong> <Plural value={accounts} one="its account" other="its # accounts" /> with all
              transactions, categories, comments and history.
            </Trans>
          </p>
        </DialogBody>
        <DialogFoot>
          <Button kind="fault" disabled={remove.isPending} onClick={() => remove.mutate()}>
            <Trans>Disconnect bank</Trans>
          </Button>
          <Button kind="quiet" onClick={() => ask(false)}>
            <Trans>Cancel</Trans>
          </Button>
        </DialogFoot>
      </Dialog>
    </Card>
  );
}
