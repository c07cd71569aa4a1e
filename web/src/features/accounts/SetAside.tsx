import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { dropRow, quarantine, retryRow } from "#/api/connections";
import { since } from "#/lib/dates";
import { sentence } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";

/** Rows from the bank that coffer could not read. Each can be tried again or deleted for good. */
export function SetAside({ bank, may }: { bank: string; may: boolean }) {
  const { data, error, refetch } = useQuery(quarantine(bank));
  const touches = ["sync", "transactions", "overview"];
  const retry = useAction({
    act: retryRow,
    touches,
    text: (r) => (r.added ? t`Added to your transactions` : t`Already in your transactions`),
    change: (r) => r.change_id,
  });
  const drop = useAction({ act: dropRow, touches, text: t`Deleted` });
  const busy = retry.isPending || drop.isPending;
  return (
    <Card title={t`Unreadable rows`} aside={t`coffer couldn’t read these rows from the bank`} flush>
      {error && <Fault error={error} what={t`unreadable rows`} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={2} />}
      <Lines>
        {data?.quarantine.map((q) => (
          <Item
            key={q.id}
            name={sentence(q.reason)}
            hint={
              <>
                <bdi className="mono">{q.provider_reference ?? q.short_id}</bdi> ·{" "}
                {t`last seen ${{ day: since(q.last_seen_at) }}`}
              </>
            }
            end={
              may && (
                <>
                  <Button
                    icon="sync"
                    disabled={busy || !q.retryable}
                    title={q.retryable ? undefined : t`Waiting for the bank to resend it`}
                    onClick={() => retry.mutate(q.id)}
                  >
                    <Trans>Retry</Trans>
                  </Button>
                  <Button kind="fault" disabled={busy} onClick={() => drop.mutate(q.id)}>
                    <Trans>Delete</Trans>
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
