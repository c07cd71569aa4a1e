import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { commonPayees, type Payee, type PayeeDetail, payeeAt } from "#/api/payees";
import { transactions } from "#/lib/words";
import { FormDialog } from "#/parts/FormDialog";
import { useApart, useNaming } from "#/parts/payees";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { otherPayees } from "./payee";

/** Identifies a payee for a merge: by its counterparty, or else by its name. */
const target = (p: Pick<Payee, "counterparty" | "payee_name">) =>
  p.counterparty ? { counterparty_id: p.counterparty.id } : { name: p.payee_name };

/** Suggests merging payees whose names look like this one's. */
export function SamePayee({ payee: p }: { payee: PayeeDetail }) {
  const { open, part } = useApart(p.similar.length ? [[...p.similar, { ...p, counterparty_id: null, count: 0 }]] : []);
  const merge = useNaming(true);
  const set = open[0];
  if (!set) return null;
  const names = p.similar.map((s) => s.payee_name).join(", ");
  const count = p.similar.reduce((n, s) => n + s.count, 0);
  return (
    <Card flush>
      <Lines label={t`Same payee?`}>
        <Item
          below
          name={<bdi>{names}</bdi>}
          hint={`${t`Same payee?`} ${transactions(count)}`}
          end={
            <>
              <Button kind="quiet" aria-label={t`Don’t merge: ${{ payees: names }}`} onClick={() => part(set)}>
                <Trans>Don’t merge</Trans>
              </Button>
              <Button
                disabled={merge.isPending}
                onClick={() => merge.mutate({ payees: [p.payee, ...p.similar.map((s) => s.payee)], ...target(p) })}
              >
                {t`Merge into ${{ payee: p.payee_name }}`}
              </Button>
            </>
          }
        />
      </Lines>
    </Card>
  );
}

export function Rename({ payee: p, onClose }: { payee: PayeeDetail; onClose: () => void }) {
  const naming = useNaming(false);
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Rename payee`}
      act={t`Rename`}
      busy={naming.isPending}
      error={naming.error}
      onSubmit={(f) => naming.mutate({ payees: [p.payee], name: f.text("name") }, { onSuccess: onClose })}
    >
      <Fields>
        <Field
          label={t`Name`}
          name="name"
          defaultValue={p.payee_name}
          required
          maxLength={200}
          autoComplete="off"
          hint={t`Also for new transactions of this payee.`}
        />
      </Fields>
    </FormDialog>
  );
}

/** Merges a payee into another one, even if that one has no counterparty yet. */
export function Merge({ payee: p, onClose }: { payee: PayeeDetail; onClose: () => void }) {
  const naming = useNaming(true);
  const { data } = useQuery(commonPayees({ transfers: false }));
  const others = data && otherPayees(data, p);
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Merge payee`}
      act={t`Merge`}
      busy={naming.isPending || !others?.length}
      error={naming.error}
      onSubmit={(f) => {
        const into = others?.find((o) => payeeAt(o) === f.text("into"));
        if (into) naming.mutate({ payees: [into.payee, p.payee], ...target(into) }, { onSuccess: onClose });
      }}
    >
      {!others && <Skeleton rows={2} />}
      {others?.length === 0 && <Empty title={t`No other payees`} />}
      {others && others.length > 0 && (
        <Fields>
          <Select
            label={t`Merge into`}
            name="into"
            hint={t`Its transactions move to that payee, and this name is kept as an alias.`}
            options={others.map((o) => [payeeAt(o), o.payee_name] as const)}
          />
        </Fields>
      )}
    </FormDialog>
  );
}
