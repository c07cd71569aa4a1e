import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "#/api/client";
import { type Connection, patchConnection, removeConnection } from "#/api/connections";
import { useDeed } from "#/parts/deed";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { Fields, Select } from "#/ui/Form";

const hour = 3600;
const intervals = [
  ["", "As the household does"],
  [String(hour), "Every hour"],
  [String(4 * hour), "Every 4 hours"],
  [String(12 * hour), "Every 12 hours"],
  [String(24 * hour), "Once a day"],
  [String(7 * 24 * hour), "Once a week"],
] as const;

/** How often a bank is read, whether it is at all, and how it is removed. */
export function BankForm({ bank: b, accounts }: { bank: Connection; accounts: number }) {
  const go = useNavigate();
  const [asking, ask] = useState(false);
  const touches = ["connections", "sync", "overview", "accounts"];
  const change = useDeed({
    act: ({ body }: { body: Schemas["PatchConnection"]; said: string }) => patchConnection(b.id, body),
    touches,
    said: (_, v) => v.said,
  });
  const remove = useDeed({
    act: async () => {
      await removeConnection(b.id);
      ask(false);
      void go({ to: "/accounts", search: {} });
    },
    touches,
    said: `${b.institution_name ?? "The bank"} is no longer linked; what it brought is kept`,
  });
  const own = String(b.sync_interval_seconds ?? "");
  const options = intervals.some(([v]) => v === own)
    ? intervals
    : ([...intervals, [own, `Every ${Math.round(Number(own) / 60)} minutes`]] as const);
  const name = b.institution_name ?? "this bank";
  return (
    <Card title="How it is kept">
      <Fields>
        {b.provider !== "csv" && (
          <>
            <Select
              label="Fetched"
              value={own}
              options={options}
              onChange={(e) =>
                change.mutate({
                  body: { sync_interval_seconds: e.target.value ? Number(e.target.value) : null },
                  said: "Saved",
                })
              }
            />
            <Button
              icon={b.paused ? "sync" : "pause"}
              disabled={change.isPending}
              onClick={() =>
                change.mutate({
                  body: { paused: !b.paused },
                  said: b.paused ? "It is fetched again" : "Paused; nothing is fetched until you resume it",
                })
              }
            >
              {b.paused ? "Resume fetching" : "Pause fetching"}
            </Button>
          </>
        )}
        <Button kind="fault" icon="trash" onClick={() => ask(true)}>
          Remove the bank…
        </Button>
      </Fields>
      <Dialog open={asking} onClose={() => ask(false)} title={`Remove ${name}`}>
        <DialogBody>
          <p>
            <strong>Ends for good:</strong> coffer's access to the bank. New payments stop arriving until you link the
            bank again.
          </p>
          <p>
            <strong>Stays:</strong> {accounts === 1 ? "its account" : `its ${accounts} accounts`} with all payments,
            categories, comments and history.
          </p>
        </DialogBody>
        <DialogFoot>
          <Button kind="fault" disabled={remove.isPending} onClick={() => remove.mutate()}>
            Remove the bank
          </Button>
          <Button kind="quiet" onClick={() => ask(false)}>
            Cancel
          </Button>
        </DialogFoot>
      </Dialog>
    </Card>
  );
}
