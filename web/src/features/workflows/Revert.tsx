import { useQuery } from "@tanstack/react-query";
import { jobEnd } from "#/api/jobs";
import { type Run, revertRun } from "#/api/workflows";
import { payments } from "#/lib/words";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { stay } from "#/parts/fields";
import { Bones } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { some } from "./words";

/** Asks whether a run is to be undone, with what would go back and what would stay. */
export function Revert({ run: r, onClose }: { run: Run; onClose: () => void }) {
  const trial = useQuery({
    queryKey: ["workflows", "revert", r.id],
    queryFn: () => revertRun(r.id, true),
    gcTime: 0,
    staleTime: 0,
    retry: false,
  });
  const undo = useDeed({
    act: async () => {
      const done = await revertRun(r.id, false);
      if (done.job_id) await jobEnd(done.job_id);
      return done;
    },
    touches: ["workflows", "transactions", "review", "overview", "rules", "changes", "categories", "tags"],
    said: (d) => `Undone: ${some(d.reverted, "field")} ${d.reverted === 1 ? "is" : "are"} as before`,
    quiet: true,
  });
  const would = trial.data;
  const later = would?.rules_since.reduce((sum, x) => sum + x.transactions, 0) ?? 0;
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Undo this run?"
      act={would ? `Undo ${some(would.reverted, "field")}` : "Undo"}
      fault
      busy={!would || would.reverted === 0 || undo.isPending}
      error={trial.error ?? undo.error}
      onSubmit={() => undo.mutate(undefined, { onSuccess: onClose })}
    >
      {!would && !trial.error && <Bones rows={2} />}
      {would && (
        <p aria-live="polite">
          {would.reverted === 0
            ? "Nothing of it is left to undo. "
            : `${some(would.reverted, "field")} of ${some(would.changes, "change")} ${would.reverted === 1 ? "goes" : "go"} back to what was there before. `}
          {stay(would.skipped_by_reason)}
        </p>
      )}
      {later > 0 && (
        <Note>Rules that it made have changed {payments(later)} since. That stays; undo it in Activity.</Note>
      )}
    </FormDialog>
  );
}
