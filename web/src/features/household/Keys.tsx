import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Key, keys, revokeKey, works } from "#/api/keys";
import { moment } from "#/lib/dates";
import { draftWaits } from "#/lib/drafts";
import { shortName } from "#/lib/names";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { used } from "#/parts/SignIns";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Fold, Item, Lines } from "#/ui/Lines";
import { Seal } from "#/ui/Seal";
import { NewKey } from "./NewKey";

const mark = (k: Key) => (k.actor_type === "agent" ? <Seal maker={{ kind: "agent" }} large /> : <Icon name="key" />);

const hint = (k: Key) =>
  [
    `${k.key_prefix}…`,
    k.scope === "full_access" ? "can change things" : "can only read",
    k.may.includes("administer") && "and run the household",
    k.scope === "full_access" &&
      k.max_writes_per_day !== null &&
      `at most ${k.max_writes_per_day.toLocaleString("en")} payments a day`,
    used(k.last_used_at),
    k.expires_at && `until ${moment(k.expires_at)}`,
  ]
    .filter(Boolean)
    .join(" · ");

/** The keys of programs: made here, shown once, and ended at any time. */
export function Keys() {
  const list = useQuery(keys);
  const [makes, make] = useState(() => draftWaits("key"));
  const [ends, end] = useState<Key | null>(null);
  const revoke = useDeed({ act: revokeKey, touches: ["keys"], said: "The key is revoked and opens nothing any more" });
  const good = (list.data ?? []).filter((k) => works(k));
  const gone = (list.data ?? []).filter((k) => !works(k));
  return (
    <Card
      title="API keys"
      aside={
        <Button kind="quiet" icon="plus" onClick={() => make(true)}>
          Make a key
        </Button>
      }
      flush
    >
      {list.error && <Fault error={list.error} what="The keys" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={3} />}
      {list.data && good.length === 0 && (
        <Empty title="No program has a key">
          A script, the command line or an agent needs one to read or change anything.
        </Empty>
      )}
      <Lines label="API keys">
        {good.map((k) => (
          <Item
            key={k.id}
            mark={mark(k)}
            name={<bdi>{k.name}</bdi>}
            hint={hint(k)}
            end={
              <Button kind="quiet" onClick={() => end(k)}>
                Revoke
              </Button>
            }
          />
        ))}
      </Lines>
      {gone.length > 0 && (
        <Fold name={gone.length === 1 ? "1 key that has ended" : `${gone.length} keys that have ended`}>
          <Lines label="Keys that have ended">
            {gone.map((k) => (
              <Item
                key={k.id}
                mark={mark(k)}
                name={<bdi>{k.name}</bdi>}
                hint={`${k.key_prefix}… · ${used(k.last_used_at)}`}
                end={<Badge>{k.revoked_at ? `Revoked ${moment(k.revoked_at)}` : "Expired"}</Badge>}
              />
            ))}
          </Lines>
        </Fold>
      )}
      <NewKey open={makes} onClose={() => make(false)} />
      <FormDialog
        open={ends !== null}
        onClose={() => end(null)}
        title={`Revoke “${shortName(ends?.name ?? "")}”?`}
        hint="Whatever uses it is refused from its next request on. What it did stays, and can be undone in Activity."
        act="Revoke key"
        fault
        busy={revoke.isPending}
        onSubmit={() => ends && revoke.mutate(ends.id, { onSettled: () => end(null) })}
      />
    </Card>
  );
}
