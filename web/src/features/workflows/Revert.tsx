import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { jobEnd } from "#/api/jobs";
import { type Run, revertRun } from "#/api/workflows";
import { transactions } from "#/lib/words";
import { FormDialog } from "#/parts/FormDialog";
import { goesBack, stay } from "#/parts/fields";
import { useAction } from "#/parts/useAction";
import { Skeleton } from "#/ui/Card";
import { Note } from "#/ui/Form";

/** Asks whether to undo a run, after showing what would be undone and what would not. */
export function Revert({ run: r, onClose }: { run: Run; onClose: () => void }) {
  const trial = useQuery({
    queryKey: ["workflows", "revert", r.id],
    queryFn: () => revertRun(r.id, true),
    gcTime: 0,
    staleTime: 0,
    retry: false,
  });
  const undo = useAction({
    act: async () => {
      const done = await revertRun(r.id, false);
      if (done.job_id) await jobEnd(done.job_id);
      return done;
    },
    touches: ["workflows", "transactions", "review", "overview", "rules", "changes", "categories", "tags"],
    text: (d) => (d.job_id ? t`Undone` : plural(d.changes, { one: "Undid # change", other: "Undid # changes" })),
    quiet: true,
  });
  const would = trial.data;
  const later = would?.rules_since.reduce((sum, x) => sum + x.transactions, 0) ?? 0;
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Undo this run?`}
      act={t`Undo`}
      fault
      busy={!would || would.reverted === 0 || undo.isPending}
      error={trial.error ?? undo.error}
      onSubmit={() => undo.mutate(undefined, { onSuccess: onClose })}
    >
      {!would && !trial.error && <Skeleton rows={2} />}
      {would && (
        <p aria-live="polite">
          {goesBack(would.transactions, would.reverted)} {stay(would.skipped_by_reason)}
        </p>
      )}
      {later > 0 && (
        <Note>
          <Trans>
            Rules created by this run have since changed {{ transactions: transactions(later) }}. Those changes are
            kept. You can undo them in Activity.
          </Trans>
        </Note>
      )}
    </FormDialog>
  );
}
