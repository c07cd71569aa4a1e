import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Account, accountName, accounts, mergeAccount } from "#/api/accounts";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields, Select } from "#/ui/Form";
import { mergeWords } from "./merge";

const touches = ["accounts", "overview", "transactions", "cashflow", "review", "changes"] as const;

/** Merges an account into another. Its dialog first shows what will happen to the transactions. */
export function MergeAccount({ account: a }: { account: Account }) {
  const go = useNavigate();
  const all = useQuery(accounts);
  const [into, setInto] = useState<string>();
  const others = (all.data ?? []).filter((o) => o.id !== a.id && o.iso_currency_code === a.iso_currency_code);
  const chosen = others.find((o) => o.id === into);
  const look = useAction({ act: () => mergeAccount(a.id, chosen?.id ?? "", true), touches: [] });
  const merge = useAction({
    act: async () => {
      const r = await mergeAccount(a.id, chosen?.id ?? "", false);
      await go({ to: "/accounts/$id", params: { id: chosen?.short_id ?? "" }, search: {} });
      return r;
    },
    touches,
    text: t`${{ account: accountName(a) }} merged`,
    change: (r) => r.change_id,
    leaves: a.id,
  });
  const found = look.data;
  if (others.length === 0) return null;
  return (
    <Card title={t`Merge duplicate account`}>
      <Fields>
        <p className="small dim">
          <Trans>If another account has the same transactions, merge this one into it. Duplicates are kept once.</Trans>
        </p>
        <Select
          label={t`Merge into`}
          name="into"
          value={chosen?.id ?? ""}
          onChange={(e) => setInto(e.target.value)}
          options={[["", t`Choose account`], ...others.map((o) => [o.id, accountName(o)] as const)]}
        />
        <span>
          <Button icon="link" disabled={!chosen || look.isPending} onClick={() => look.mutate()}>
            <Trans>Merge…</Trans>
          </Button>
        </span>
      </Fields>
      <FormDialog
        open={found !== undefined}
        onClose={() => look.reset()}
        title={chosen ? t`Merge into ${{ account: accountName(chosen) }}?` : ""}
        hint={found && mergeWords(found)}
        act={t`Merge accounts`}
        onSubmit={() => merge.mutate()}
      />
    </Card>
  );
}
