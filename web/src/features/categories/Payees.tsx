import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { counterparties } from "#/api/counterparties";
import { changePayee, deletePayee, mergePayee, type Payee, tree } from "#/api/filing";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { Opens } from "./Opens";
import { Cost } from "./Tree";
import { byName, none, times } from "./uses";
import { useUses } from "./useUses";

const touches = ["counterparties", "transactions", "changes"];
const most = 200;

export function Payees({ typed, write }: { typed: string; write: boolean }) {
  const list = useQuery(counterparties);
  const all = useQuery(tree).data?.flatMap((n) => [n, ...n.children]);
  const uses = useUses("counterparty");
  const [open, setOpen] = useState<Payee | null>(null);
  const word = typed.trim().toLowerCase();
  const found = byName(list.data ?? []).filter(({ payee, aliases }) =>
    [payee, ...aliases].some((p) => p.name.toLowerCase().includes(word)),
  );
  return (
    <Card flush foot={found.length > most && t`Showing ${most} of ${{ count: found.length }}. Search to find more.`}>
      {list.error && <Fault error={list.error} what={t`payees`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={6} />}
      {list.data && found.length === 0 && (
        <Empty title={word ? t`No matching payees` : t`No payees yet`}>
          <Trans>A payee groups the different names banks use for the same business. Set one on any transaction.</Trans>
        </Empty>
      )}
      <Lines label={t`Payees`}>
        {found.slice(0, most).map(({ payee, aliases }) => {
          const use = uses.get(payee.id) ?? none;
          const names = aliases.map((a) => a.name).join(", ");
          const category = all?.find((c) => c.id === payee.category_id)?.display_name;
          return (
            <Item
              key={payee.id}
              name={<bdi>{payee.name}</bdi>}
              hint={
                <>
                  {times(use.count)}
                  {aliases.length > 0 && (
                    <>
                      {" · "}
                      <Trans>
                        also <bdi>{names}</bdi>
                      </Trans>
                    </>
                  )}
                </>
              }
              end={
                <>
                  {category && <Badge>{category}</Badge>}
                  <Cost use={use} />
                </>
              }
              open={
                write
                  ? (name) => (
                      <Opens write onOpen={() => setOpen(payee)}>
                        {name}
                      </Opens>
                    )
                  : undefined
              }
            />
          );
        })}
      </Lines>
      {open && <PayeeForm key={open.id} payee={open} onClose={() => setOpen(null)} />}
    </Card>
  );
}

/** Renames a payee, sets its default category, merges it into another, or deletes it. */
function PayeeForm({ payee, onClose }: { payee: Payee; onClose: () => void }) {
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
      <Link className="link" to="/transactions" search={{ search: payee.name }}>
        <Trans>View transactions</Trans>
      </Link>
    </FormDialog>
  );
}
