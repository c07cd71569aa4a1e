import { plural, t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Overlap, overlaps } from "#/api/rules";
import { Fault } from "#/parts/Fault";
import { Card, Skeleton } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";

/** How many transactions two rules both match, and which rule wins. */
function shared({ matched: common, contested, prevails }: Overlap): string {
  if (!contested || prevails === "none")
    return t`${plural(common, { one: "# in common", other: "# in common" })}, no conflict`;
  return prevails === "this"
    ? t`${plural(common, { one: "# in common", other: "# in common" })}, ${plural(contested, { one: "# conflicts", other: "# conflict" })}: this rule wins`
    : t`${plural(common, { one: "# in common", other: "# in common" })}, ${plural(contested, { one: "# conflicts", other: "# conflict" })}: the other rule wins`;
}

/** The rules that match the same transactions, and which one wins. */
export function Overlaps({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(overlaps(id));
  return (
    <Card
      flush
      title={t`Overlapping rules`}
      aside={data ? plural(data.matched, { one: "matches # transaction", other: "matches # transactions" }) : undefined}
    >
      {error && <Fault error={error} what={t`overlapping rules`} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={2} />}
      <Lines label={t`Overlapping rules`}>
        {data?.conflicts.length === 0 && <Item name={t`No overlapping rules`} />}
        {data?.conflicts.map((c) => (
          <Item
            key={c.rule_id}
            name={<bdi>{c.name}</bdi>}
            hint={shared(c)}
            open={(name) => (
              <Link to="/rules/$id" params={{ id: c.rule_id }} search={{}}>
                {name}
              </Link>
            )}
          />
        ))}
      </Lines>
    </Card>
  );
}
