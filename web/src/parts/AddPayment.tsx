import { Trans } from "@lingui/react/macro";
import { lazy, Suspense, useState } from "react";
import { Button } from "#/ui/Button";

const PaymentForm = lazy(() => import("./PaymentForm").then((m) => ({ default: m.PaymentForm })));

/** The button that adds a transaction manually; `account` preselects the account. */
export function AddPayment({ account }: { account?: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon="plus" onClick={() => setOpen(true)}>
        <Trans>Add transaction</Trans>
      </Button>
      <Suspense>{open && <PaymentForm account={account} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
