import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { bankProviders, linkable } from "#/api/providers";
import { LinkBank } from "#/parts/LinkBank";
import { NoProvider } from "#/parts/NoProvider";
import { Card } from "#/ui/Card";
import { Fields } from "#/ui/Form";
import { AddAccount } from "./AddAccount";

/** How to add accounts: connect a bank, import a statement, or add one manually. */
export function AddMoney({ may, filled }: { may: boolean; filled: boolean }) {
  const { data } = useQuery(bankProviders);
  if (!may) return null;
  const configured = linkable(data ?? []);
  return (
    <Card title={t`Add account`}>
      <Fields>
        {configured.map((p, i) => (
          <LinkBank key={p.name} offer={p} icon="bank" kind={filled && i === 0 ? "filled" : "plain"}>
            {configured.length > 1 ? t`Connect a bank with ${{ provider: p.title }}` : t`Connect a bank`}
          </LinkBank>
        ))}
        {data && configured.length === 0 && <NoProvider all={data} />}
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
