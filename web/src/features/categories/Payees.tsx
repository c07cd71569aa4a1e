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
    <Card flush foot={found.length > most && `The first ${most} of ${found.length}. Search to see others.`}>
      {list.error && <Fault error={list.error} what="The payees" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={6} />}
      {list.data && found.length === 0 && (
        <Empty title={word ? "No payee by that name" : "No payees yet"}>
          A payee gathers what banks write in different ways. Open a payment and choose its payee to make one.
        </Empty>
      )}
      <Lines label="Payees">
        {found.slice(0, most).map(({ payee, aliases }) => {
          const use = uses.get(payee.id) ?? none;
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
                      {" · also "}
                      <bdi>{aliases.map((a) => a.name).join(", ")}</bdi>
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

/** Renames a payee, says what it is usually for, merges it into another, or deletes it. */
function PayeeForm({ payee, onClose }: { payee: Payee; onClose: () => void }) {
  const all = (useQuery(tree).data ?? []).flatMap((n) => [n, ...n.children]);
  const others = byName(useQuery(counterparties).data ?? []).filter((o) => o.payee.id !== payee.id);
  const save = useDeed({ act: changePayee, touches, said: "Saved", quiet: true });
  const merge = useDeed({ act: mergePayee, touches, said: (p) => `Now part of ${p.name}`, quiet: true });
  const remove = useDeed({ act: deletePayee, touches, said: "Payee deleted; its payments stay" });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={payee.name}
      act="Save"
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
          Delete
        </Button>
      }
    >
      <Fields>
        <Field label="Name" name="name" defaultValue={payee.name} required maxLength={200} autoComplete="off" />
        <Select
          label="Usually for"
          name="category"
          defaultValue={payee.category_id ?? ""}
          hint="A suggestion for new payments; it files none."
          options={[["", "Nothing in particular"], ...all.map((c) => [c.id, c.display_name] as const)]}
        />
        {others.length > 0 && (
          <Select
            label="The same as"
            name="into"
            hint="Its payments move to that payee, and its name is kept as another spelling."
            options={[["", "Nobody else"], ...others.map((o) => [o.payee.id, o.payee.name] as const)]}
          />
        )}
      </Fields>
      <Link className="link" to="/transactions" search={{ search: payee.name }}>
        Find its payments
      </Link>
    </FormDialog>
  );
}
