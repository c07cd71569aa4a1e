import { Plural, Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { Skipped } from "#/api/changes";
import { goesBack, stay } from "#/parts/fields";
import { Button } from "#/ui/Button";
import css from "./ActivityPage.module.css";
import { placeOf } from "./days";

/** The effect of an undo: how many transactions and fields it restores, which fields do not change, and why. */
export type Trial = { transactions: number; back: number; why: Record<string, number>; stays: ReadonlySet<string> };

type Would = { transactions: number; reverted: number; skipped_by_reason: Record<string, number>; skipped: Skipped[] };

export const trialOf = (r: Would): Trial => ({
  transactions: r.transactions,
  back: r.reverted,
  why: r.skipped_by_reason,
  stays: new Set(r.skipped.map((s) => placeOf({ id: s.subject_id, field: s.field }))),
});

type Props = {
  title: string;
  trial: Trial;
  busy: boolean;
  children?: ReactNode;
  onYes: () => void;
  onSee?: () => void;
  onNo: () => void;
};

export function Strip({ title, trial, busy, children, onYes, onSee, onNo }: Props) {
  const stays = Object.values(trial.why).reduce((a, b) => a + b, 0);
  const { back } = trial;
  const all = back + stays;
  return (
    <div className={css.strip}>
      <strong>{title}</strong>
      {children}
      <p>
        {goesBack(trial.transactions, back)} {stay(trial.why)}
      </p>
      <svg className={css.bar} aria-hidden="true">
        <rect className={css.stay} width="100%" height="8" rx="4" />
        <rect className={css.back} width={`${(100 * back) / Math.max(1, all)}%`} height="8" rx="4" />
      </svg>
      <div className="row wrap">
        <Button kind="filled" disabled={busy || back === 0} onClick={onYes}>
          {trial.transactions ? <Plural value={trial.transactions} one="Undo #" other="Undo #" /> : <Trans>Undo</Trans>}
        </Button>
        {onSee && (
          <Button onClick={onSee}>
            <Trans>Show details</Trans>
          </Button>
        )}
        <Button kind="quiet" onClick={onNo}>
          <Trans>Cancel</Trans>
        </Button>
      </div>
    </div>
  );
}
