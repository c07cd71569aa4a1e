import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { bankProviders, covers, fitting, linkable } from "#/api/providers";
import { region } from "#/lib/locale";
import { LinkBank } from "#/parts/LinkBank";
import { NoProvider } from "#/parts/NoProvider";
import { Card } from "#/ui/Card";
import { Fields } from "#/ui/Form";
import { AddAccount } from "./AddAccount";

/** How to add accounts: connect a bank, import a statement, or add one manually. */
export function AddMoney({ may, filled }: { may: boolean; filled: boolean }) {
  const { data } = useQuery(bankProviders);
  if (!may) return null;
  const configured = linkable(data ?? [], region);
  return (
    <Card title={t`Add account`}>
      <Fields>
        {data && fitting(data, region).length === 0 && <NoProvider all={data} />}
        {configured.map((p, i) => (
          <LinkBank
            key={p.name}
            offer={p}
            icon="bank"
            kind={filled && i === 0 && covers(p, region) ? "filled" : "plain"}
          >
            {configured.length > 1 || !covers(p, region)
              ? t`Connect a bank with ${{ provider: p.title }}`
              : t`Connect a bank`}
          </LinkBank>
        ))}
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
