import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { type Account, refreshBalance } from "#/api/accounts";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";

/** The button that requests the current balance from the bank. Its dialog first says that this may cost money. */
export function AskBank({ account: a }: { account: Account }) {
  const [open, setOpen] = useState(false);
  const ask = useAction({
    act: () => refreshBalance(a.id),
    touches: ["accounts", "overview", "connections"],
    text: t`Balance updated`,
    quiet: true,
  });
  const close = () => {
    setOpen(false);
    ask.reset();
  };
  return (
    <>
      <Button icon="bank" onClick={() => setOpen(true)}>
        <Trans>Refresh balance…</Trans>
      </Button>
      <FormDialog
        open={open}
        onClose={close}
        title={t`Refresh balance from bank`}
        hint={t`Regular syncs include a balance that may be a few hours old. A live refresh may cost money, depending on your provider plan.`}
        act={t`Refresh`}
        busy={ask.isPending}
        error={ask.error}
        onSubmit={() => ask.mutate(undefined, { onSuccess: close })}
      >
        <p className="small dim">
          <Trans>Takes up to a minute. You can do this every 15 minutes.</Trans>
        </p>
      </FormDialog>
    </>
  );
}
