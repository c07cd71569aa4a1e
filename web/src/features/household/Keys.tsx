import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Key, keys, revokeKey, works } from "#/api/keys";
import { moment } from "#/lib/dates";
import { draftWaits } from "#/lib/drafts";
import { shortName } from "#/lib/names";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { used } from "#/parts/SignIns";
import { useAction } from "#/parts/useAction";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Fold, Item, Lines } from "#/ui/Lines";
import { NewKey } from "./NewKey";

const mark = (k: Key) =>
  k.actor_type === "agent" ? <AuthorBadge author={{ kind: "agent" }} large /> : <Icon name="key" />;

const hint = (k: Key) =>
  [
    `${k.key_prefix}…`,
    k.only.length ? t`can only add transactions` : k.scope === "full_access" ? t`can edit` : t`view only`,
    k.may.includes("administer") && t`admin rights`,
    k.scope === "full_access" &&
      k.max_writes_per_day !== null &&
      plural({ count: k.max_writes_per_day }, { one: "up to # change per day", other: "up to # changes per day" }),
    used(k.last_used_at),
    k.expires_at && t`expires ${{ when: moment(k.expires_at) }}`,
  ]
    .filter(Boolean)
    .join(" · ");

/** The API keys. A new key is shown once, and a key can be revoked at any time. */
export function Keys() {
  const list = useQuery(keys);
  const [makes, make] = useState(() => draftWaits("key"));
  const [ends, end] = useState<Key | null>(null);
  const revoke = useAction({ act: revokeKey, touches: ["keys"], text: t`API key revoked` });
  const active = (list.data ?? []).filter((k) => works(k));
  const gone = (list.data ?? []).filter((k) => !works(k));
  return (
    <Card
      title={t`API keys`}
      aside={
        <Button kind="quiet" icon="plus" onClick={() => make(true)}>
          <Trans>Create API key</Trans>
        </Button>
      }
      flush
    >
      {list.error && <Fault error={list.error} what={t`API keys`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={3} />}
      {list.data && active.length === 0 && (
        <Empty title={t`No API keys`}>
          <Trans>Create one for a script, the command line or an agent.</Trans>
        </Empty>
      )}
      <Lines label={t`API keys`}>
        {active.map((k) => (
          <Item
            key={k.id}
            mark={mark(k)}
            name={<bdi>{k.name}</bdi>}
            hint={hint(k)}
            end={
              <Button kind="quiet" onClick={() => end(k)}>
                <Trans>Revoke</Trans>
              </Button>
            }
          />
        ))}
      </Lines>
      {gone.length > 0 && (
        <Fold name={plural({ count: gone.length }, { one: "# inactive key", other: "# inactive keys" })}>
          <Lines label={t`Inactive keys`}>
            {gone.map((k) => (
              <Item
                key={k.id}
                mark={mark(k)}
                name={<bdi>{k.name}</bdi>}
                hint={`${k.key_prefix}… · ${used(k.last_used_at)}`}
                end={<Badge>{k.revoked_at ? t`Revoked ${{ when: moment(k.revoked_at) }}` : t`Expired`}</Badge>}
              />
            ))}
          </Lines>
        </Fold>
      )}
      <NewKey open={makes} onClose={() => make(false)} />
      <FormDialog
        open={ends !== null}
        onClose={() => end(null)}
        title={t`Revoke “${{ key: shortName(ends?.name ?? "") }}”?`}
        hint={t`Anything using this key loses access immediately. Its past changes are kept; you can undo them in Activity.`}
        act={t`Revoke key`}
        fault
        busy={revoke.isPending}
        onSubmit={() => ends && revoke.mutate(ends.id, { onSettled: () => end(null) })}
      />
    </Card>
  );
}
