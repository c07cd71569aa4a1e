import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { changePayee, deletePayee, type Payee, tree } from "#/api/filing";
import { FormDialog } from "#/parts/FormDialog";
import { touches } from "#/parts/payees";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Fields, Select } from "#/ui/Form";

/** Sets a payee's default category, or deletes the payee. The payee's page can rename and merge it. */
export function PayeeForm({ payee, onClose }: { payee: Payee; onClose: () => void }) {
  const go = useNavigate();
  const all = (useQuery(tree).data ?? []).flatMap((n) => [n, ...n.children]);
  const save = useAction({ act: changePayee, touches, text: t`Saved`, quiet: true });
  const remove = useAction({
    // Leaves the payee's page before any data is requested again. The page of a deleted payee could only show an error.
    act: async (id: string) => {
      await deletePayee(id);
      await go({ to: "/settings/categories", search: { tab: "payees" } });
    },
    touches,
    text: t`Payee deleted. Transactions kept`,
  });
  const busy = save.isPending || remove.isPending;
  return (
    <FormDialog
      open
      onClose={onClose}
      title={payee.name}
      act={t`Save`}
      busy={busy}
      error={save.error}
      onSubmit={(f) => save.mutate({ id: payee.id, category_id: f.maybe("category") }, { onSuccess: onClose })}
      foot={
        <Button kind="quiet" disabled={busy} onClick={() => remove.mutate(payee.id)}>
          <Trans>Delete</Trans>
        </Button>
      }
    >
      <Fields>
        <Select
          label={t`Default category`}
          name="category"
          defaultValue={payee.category_id ?? ""}
          hint={t`Suggested for new transactions. Doesn’t change existing ones.`}
          options={[["", t`None`], ...all.map((c) => [c.id, c.display_name] as const)]}
        />
      </Fields>
    </FormDialog>
  );
}
