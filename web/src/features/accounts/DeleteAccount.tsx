import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Account, accountName, removeAccount } from "#/api/accounts";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields } from "#/ui/Form";

const touches = ["accounts", "overview", "transactions", "cashflow", "review", "changes"] as const;

/** Deletes an account with its payments, after it said how many they are. */
export function DeleteAccount({ account: a }: { account: Account }) {
  const go = useNavigate();
  const [payments, setPayments] = useState<number>();
  const look = useDeed({ act: () => removeAccount(a.id, true), touches: [] });
  const remove = useDeed({
    act: async () => {
      const r = await removeAccount(a.id, false);
      await go({ to: "/accounts", search: {} });
      return r;
    },
    touches,
    said: `${accountName(a)} is deleted`,
    change: (r) => r.change_id,
    leaves: a.id,
  });
  return (
    <Card title="No longer needed">
      <Fields>
        <p className="small dim">
          To keep its history, write down above when it was closed. Deleting it takes its payments out of the books too.
        </p>
        <span>
          <Button
            kind="fault"
            icon="trash"
            disabled={look.isPending}
            onClick={() => look.mutate(undefined, { onSuccess: (r) => setPayments(r.transactions) })}
          >
            Delete the account…
          </Button>
        </span>
      </Fields>
      <FormDialog
        open={payments !== undefined}
        onClose={() => setPayments(undefined)}
        title="Delete the account"
        hint={
          payments === 0
            ? "It has no payments. You can undo this."
            : `${payments} ${payments === 1 ? "payment goes" : "payments go"} with it. You can undo this.`
        }
        act="Delete it"
        fault
        onSubmit={() => remove.mutate()}
      />
    </Card>
  );
}
