import { Trans } from "@lingui/react/macro";
import { lazy, Suspense, useState } from "react";
import { overlay } from "#/lib/overlay";
import { Button } from "#/ui/Button";

const PaymentForm = lazy(() => import("./PaymentForm").then((m) => ({ default: m.PaymentForm })));

/** The form as it is opened from anywhere: by the search, or by the floating button of a phone. */
export function AddAnywhere() {
  const open = overlay.use() === "add";
  return <Suspense>{open && <PaymentForm onClose={() => overlay.set(null)} />}</Suspense>;
}

/** The button that writes a payment down, in one account if it is given. */
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
