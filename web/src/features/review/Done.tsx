import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { connections } from "#/api/connections";
import { moment } from "#/lib/dates";
import { Button } from "#/ui/Button";
import { Empty } from "#/ui/Card";
import { soonest } from "./next";

/** Shown when nothing is left to review. It also says when the next bank syncs. */
export function Done({ left, onShow }: { left: number; onShow: () => void }) {
  const next = soonest(useQuery(connections).data ?? [], new Date());
  if (left)
    return (
      <Empty
        title={t`You’ve skipped the rest`}
        action={
          <Button onClick={onShow}>
            <Trans>Show skipped</Trans>
          </Button>
        }
      >
        <Trans>Skipped transactions stay in Review.</Trans>
      </Empty>
    );
  return (
    <Empty title={t`You’re all caught up`}>
      {next
        ? t`Next sync: ${{ bank: next.bank }}, about ${{ time: moment(next.at) }}.`
        : t`New transactions appear here after the next sync or import.`}
    </Empty>
  );
}
