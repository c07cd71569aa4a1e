import { useState } from "react";
import { type Account, refreshBalance } from "#/api/accounts";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";

/** The button that has the bank look the balance up now, after it said that this may cost money. */
export function AskBank({ account: a }: { account: Account }) {
  const [open, setOpen] = useState(false);
  const ask = useDeed({
    act: () => refreshBalance(a.id),
    touches: ["accounts", "overview", "connections"],
    said: "The bank stated the balance of now",
    quiet: true,
  });
  const close = () => {
    setOpen(false);
    ask.reset();
  };
  return (
    <>
      <Button icon="bank" onClick={() => setOpen(true)}>
        Ask the bank…
      </Button>
      <FormDialog
        open={open}
        onClose={close}
        title="Ask the bank for the balance"
        hint="Every sync brings a balance for nothing, which may be some hours old. Having the bank look it up now may cost money, by your contract with the provider."
        act="Ask the bank"
        busy={ask.isPending}
        error={ask.error}
        onSubmit={() => ask.mutate(undefined, { onSuccess: close })}
      >
        <p className="small dim">It takes up to a minute, and can be asked every 15 minutes.</p>
      </FormDialog>
    </>
  );
}
