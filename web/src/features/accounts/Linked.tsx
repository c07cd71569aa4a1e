import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Account } from "#/api/accounts";
import { accountLinks } from "#/api/links";
import { Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";

/**
 * The accounts that are linked with this one: mirrors, and accounts that it exchanges transfers with. With a link,
 * nothing counts twice.
 */
export function Linked({ account: a }: { account: Account }) {
  const { data } = useQuery(accountLinks);
  const links = (data ?? []).filter(
    (l) => l.confidence !== "rejected" && [l.primary_account_id, l.mirror_account_id].includes(a.id),
  );
  if (links.length === 0) return null;
  return (
    <Card title={t`Linked accounts`} flush>
      <Lines>
        {links.map((l) => (
          <Item
            key={l.id}
            name={<bdi>{l.primary_account_id === a.id ? l.mirror_account_name : l.primary_account_name}</bdi>}
            hint={`${l.kind === "mirror" ? t`Duplicate account` : t`Transfers`} · ${plural(l.matches, { one: "# match", other: "# matches" })}`}
            open={(name) => (
              <Link to="/review/links" search={{}}>
                {name}
              </Link>
            )}
            end={
              l.confidence === "auto" && (
                <Badge mood="warn">
                  <Trans>needs review</Trans>
                </Badge>
              )
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
