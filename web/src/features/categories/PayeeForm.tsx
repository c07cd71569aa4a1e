import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { counterparties } from "#/api/counterparties";
import { changePayee, deletePayee, mergePayee, type Payee, tree } from "#/api/filing";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { byName } from "./uses";

const touches = ["payees", "counterparties", "transactions", "changes"];

/** Renames a payee, sets its default category, merges it into another, or deletes it. */
export function PayeeForm({ payee, onClose }: { payee: Payee; onClose: () => void }) {
  const all = (useQuery(tree).data ?? []).flatMap((n) => [n, ...n.children]);
  const others = byName(useQuery(counterparties).data ?? []).filter((o) => o.payee.id !== payee.id);
  const save = useDeed({ act: changePayee, touches, said: t`Saved`, quiet: true });
  const merge = useDeed({ act: mergePayee, touches, said: (p) => t`Merged into ${{ payee: p.name }}`, quiet: true });
  const remove = useDeed({ act: deletePayee, touches, said: t`Payee deleted. Transactions kept` });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={payee.name}
      act={t`Save`}
      busy={save.isPending || merge.isPending || remove.isPending}
      error={save.error ?? merge.error}
      onSubmit={(f) =>
        f.text("into")
          ? merge.mutate({ id: payee.id, into: f.text("into") }, { onSuccess: onClose })
          : save.mutate(
              { id: payee.id, name: f.text("name"), category_id: f.maybe("category") },
              { onSuccess: onClose },
            )
      }
      foot={
        <Button kind="quiet" onClick={() => remove.mutate(payee.id, { onSuccess: onClose })}>
          <Trans>Delete</Trans>
        </Button>
      }
    >
      <Fields>
        <Field label={t`Name`} name="name" defaultValue={payee.name} required maxLength={200} autoComplete="off" />
        <Select
          label={t`Default category`}
          name="category"
          defaultValue={payee.category_id ?? ""}
          hint={t`Suggested for new transactions. Doesn’t change existing ones.`}
          options={[["", t`None`], ...all.map((c) => [c.id, c.display_name] as const)]}
        />
        {others.length > 0 && (
          <Select
            label={t`Merge into`}
            name="into"
            hint={t`Its transactions move to that payee, and this name is kept as an alias.`}
            options={[["", t`Don’t merge`], ...others.map((o) => [o.payee.id, o.payee.name] as const)]}
          />
        )}
      </Fields>
    </FormDialog>
  );
}
