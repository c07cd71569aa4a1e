import { useQuery } from "@tanstack/react-query";
import { dropRow, quarantine, retryRow } from "#/api/connections";
import { since } from "#/lib/dates";
import { useDeed } from "#/parts/deed";
import { sentence } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";

/** Payments that the bank sent and coffer could not read. Each is read again, or dropped for good. */
export function SetAside({ bank, may }: { bank: string; may: boolean }) {
  const { data, error, refetch } = useQuery(quarantine(bank));
  const touches = ["sync", "transactions", "overview"];
  const retry = useDeed({
    act: retryRow,
    touches,
    said: (r) => (r.added ? "Read, and added to your payments" : "Read; it was there already"),
    change: (r) => r.change_id,
  });
  const drop = useDeed({ act: dropRow, touches, said: "Dropped" });
  const busy = retry.isPending || drop.isPending;
  return (
    <Card title="Set aside" aside="Sent by the bank, and not readable" flush>
      {error && <Fault error={error} what="What was set aside" retry={() => void refetch()} />}
      {!data && !error && <Bones rows={2} />}
      <Lines>
        {data?.quarantine.map((q) => (
          <Item
            key={q.id}
            name={sentence(q.reason)}
            hint={
              <>
                <bdi className="mono">{q.provider_reference ?? q.short_id}</bdi> · seen {since(q.last_seen_at)}
              </>
            }
            end={
              may && (
                <>
                  <Button
                    icon="sync"
                    disabled={busy || !q.retryable}
                    title={q.retryable ? undefined : "The bank must send it again"}
                    onClick={() => retry.mutate(q.id)}
                  >
                    Read again
                  </Button>
                  <Button kind="fault" disabled={busy} onClick={() => drop.mutate(q.id)}>
                    Drop
                  </Button>
                </>
              )
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
