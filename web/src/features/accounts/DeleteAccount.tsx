import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Account, accountName, removeAccount } from "#/api/accounts";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields } from "#/ui/Form";

const touches = ["accounts", "overview", "transactions", "cashflow", "review", "changes"] as const;

/** Deletes an account with its transactions. Its dialog first shows how many there are. */
export function DeleteAccount({ account: a }: { account: Account }) {
  const go = useNavigate();
  const [rows, setRows] = useState<number>();
  const look = useAction({ act: () => removeAccount(a.id, true), touches: [] });
  const remove = useAction({
    act: async () => {
      const r = await removeAccount(a.id, false);
      await go({ to: "/accounts", search: {} });
      return r;
    },
    touches,
    text: t`${{ account: accountName(a) }} deleted`,
    change: (r) => r.change_id,
    leaves: a.id,
  });
  return (
    <Card title={t`Delete account`}>
      <Fields>
        <p className="small dim">
          <Trans>
            To keep its history, set a closing date above instead. Deleting the account also deletes its transactions.
          </Trans>
        </p>
        <span>
          <Button
            kind="fault"
            icon="trash"
            disabled={look.isPending}
            onClick={() => look.mutate(undefined, { onSuccess: (r) => setRows(r.transactions) })}
          >
            <Trans>Delete account…</Trans>
          </Button>
        </span>
      </Fields>
      <FormDialog
        open={rows !== undefined}
        onClose={() => setRows(undefined)}
        title={t`Delete account?`}
        hint={
          rows === 0
            ? t`This account has no transactions. You can undo this.`
            : plural(rows ?? 0, {
                one: "This also deletes # transaction. You can undo this.",
                other: "This also deletes # transactions. You can undo this.",
              })
        }
        act={t`Delete account`}
        fault
        onSubmit={() => remove.mutate()}
      />
    </Card>
  );
}
