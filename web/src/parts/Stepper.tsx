import { i18n } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Button } from "#/ui/Button";
import css from "./PageHeader.module.css";

const steps = {
  month: { back: msg`Previous month`, on: msg`Next month` },
  quarter: { back: msg`Previous quarter`, on: msg`Next quarter` },
  year: { back: msg`Previous year`, on: msg`Next year` },
};

/** Buttons to the previous and the next period, with the name of the current period between them. */
export function Stepper(p: {
  name: string;
  short: string;
  what: keyof typeof steps;
  /** Whether there is nothing before this period. */
  first?: boolean;
  last: boolean;
  onBack: () => void;
  onOn: () => void;
}) {
  const { back, on } = steps[p.what];
  return (
    <div className={css.stepper}>
      <Button
        kind="quiet"
        icon="back"
        aria-label={i18n._(back)}
        title={`${i18n._(back)} ([)`}
        disabled={p.first}
        onClick={p.onBack}
      />
      <span aria-live="polite">
        <span className="desk">{p.name}</span>
        <span className="phone">{p.short}</span>
      </span>
      <Button
        kind="quiet"
        icon="chev"
        aria-label={i18n._(on)}
        title={`${i18n._(on)} (])`}
        disabled={p.last}
        onClick={p.onOn}
      />
    </div>
  );
}
