import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Account, accountName, accounts, mergeAccount } from "#/api/accounts";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields, Select } from "#/ui/Form";
import { mergeWords } from "./merge";

const touches = ["accounts", "overview", "transactions", "cashflow", "review", "changes"] as const;

/** Merges an account into another, after it said what would become of its payments. */
export function MergeAccount({ account: a }: { account: Account }) {
  const go = useNavigate();
  const all = useQuery(accounts);
  const [into, setInto] = useState<string>();
  const others = (all.data ?? []).filter((o) => o.id !== a.id && o.iso_currency_code === a.iso_currency_code);
  const chosen = others.find((o) => o.id === into) ?? others[0];
  const look = useDeed({ act: () => mergeAccount(a.id, chosen?.id ?? "", true), touches: [] });
  const merge = useDeed({
    act: async () => {
      const r = await mergeAccount(a.id, chosen?.id ?? "", false);
      await go({ to: "/accounts/$id", params: { id: chosen?.short_id ?? "" }, search: {} });
      return r;
    },
    touches,
    said: `${accountName(a)} is merged`,
    change: (r) => r.change_id,
    leaves: a.id,
  });
  const found = look.data;
  if (!chosen) return null;
  return (
    <Card title="The same account twice">
      <Fields>
        <p className="small dim">
          If another account has the same payments, merge this one into it. Payments that both have stay once.
        </p>
        <Select
          label="Merge into"
          name="into"
          value={chosen.id}
          onChange={(e) => setInto(e.target.value)}
          options={others.map((o) => [o.id, accountName(o)])}
        />
        <span>
          <Button icon="link" disabled={look.isPending} onClick={() => look.mutate()}>
            Merge the accounts…
          </Button>
        </span>
      </Fields>
      <FormDialog
        open={found !== undefined}
        onClose={() => look.reset()}
        title={`Merge into ${accountName(chosen)}`}
        hint={found && mergeWords(found)}
        act="Merge them"
        onSubmit={() => merge.mutate()}
      />
    </Card>
  );
}
