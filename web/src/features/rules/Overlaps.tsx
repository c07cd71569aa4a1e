import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { overlaps } from "#/api/rules";
import { Fault } from "#/parts/Fault";
import { Bones, Card } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";

const n = (x: number) => x.toLocaleString("en");
const wins = {
  this: "this one has the last word",
  other: "the other has the last word",
  none: "they do not contradict each other",
} as const;

/** The rules that match the same payments, and who has the last word. */
export function Overlaps({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(overlaps(id));
  return (
    <Card flush title="Overlaps" aside={data ? `matches ${n(data.matched)} payments` : undefined}>
      {error && <Fault error={error} what="Overlaps" retry={() => void refetch()} />}
      {!data && !error && <Bones rows={2} />}
      <Lines label="Overlapping rules">
        {data?.conflicts.length === 0 && <Item name="No other rule matches these payments" />}
        {data?.conflicts.map((c) => (
          <Item
            key={c.rule_id}
            name={<bdi>{c.name}</bdi>}
            hint={
              c.contested
                ? `${n(c.matched)} payments in common, ${n(c.contested)} where they differ: ${wins[c.prevails]}`
                : `${n(c.matched)} payments in common; ${wins.none}`
            }
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
