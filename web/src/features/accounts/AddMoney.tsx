import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { providers } from "#/api/settings";
import { linkBank } from "#/parts/banks";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields } from "#/ui/Form";
import { AddAccount } from "./AddAccount";

const names = { plaid: "Plaid", teller: "Teller" } as const;

/** How to add accounts: link a bank, write one down, or import a file. */
export function AddMoney({ may, filled }: { may: boolean; filled: boolean }) {
  const { data } = useQuery(providers);
  if (!may) return null;
  const ways = (["plaid", "teller"] as const).filter((p) => data?.[p].configured);
  return (
    <Card title={t`Add account`}>
      <Fields>
        {ways.map((p, i) => (
          <Button key={p} icon="bank" kind={filled && i === 0 ? "filled" : "plain"} onClick={() => void linkBank(p)}>
            {ways.length > 1 ? t`Connect a bank with ${{ provider: names[p] }}` : t`Connect a bank`}
          </Button>
        ))}
        {data && ways.length === 0 && (
          <p className="small dim">
            <Trans>To connect a bank, an admin needs to set up Plaid or Teller in Settings.</Trans>
          </p>
        )}
        <AddAccount />
        <Link className="link" to="/import" search={{}}>
          <Trans>Import statement</Trans>
        </Link>
        <p className="small dim">
          <Trans>You sign in at your bank. coffer never sees your password.</Trans>
        </p>
      </Fields>
    </Card>
  );
}
