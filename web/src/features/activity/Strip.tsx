import type { ReactNode } from "react";
import type { Skipped } from "#/api/changes";
import { stay } from "#/parts/fields";
import { Button } from "#/ui/Button";
import css from "./ActivityPage.module.css";
import { placeOf } from "./days";

/** What undoing something would do: how many fields go back, how many stay, and why. */
export type Trial = { back: number; why: Record<string, number>; stays: ReadonlySet<string> };

type Would = { reverted: number; skipped_by_reason: Record<string, number>; skipped: Skipped[] };

export const trialOf = (r: Would): Trial => ({
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

export function Strip({ title, trial: t, busy, children, onYes, onSee, onNo }: Props) {
  const stays = Object.values(t.why).reduce((a, b) => a + b, 0);
  const all = t.back + stays;
  return (
    <div className={css.strip}>
      <strong>{title}</strong>
      {children}
      <p>
        {t.back.toLocaleString("en")} of {all.toLocaleString("en")} {all === 1 ? "field goes" : "fields go"} back to
        what {all === 1 ? "it was" : "they were"}. {stay(t.why)}
      </p>
      <svg className={css.bar} aria-hidden="true">
        <rect className={css.stay} width="100%" height="8" rx="4" />
        <rect className={css.back} width={`${(100 * t.back) / Math.max(1, all)}%`} height="8" rx="4" />
      </svg>
      <div className="row wrap">
        <Button kind="filled" disabled={busy || t.back === 0} onClick={onYes}>
          Undo {t.back.toLocaleString("en")}
        </Button>
        {onSee && <Button onClick={onSee}>See them first</Button>}
        <Button kind="quiet" onClick={onNo}>
          Keep
        </Button>
      </div>
    </div>
  );
}
