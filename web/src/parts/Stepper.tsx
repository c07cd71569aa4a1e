import { Button } from "#/ui/Button";
import css from "./Top.module.css";

/** One step back or on in time, with where one is between. */
export function Stepper(p: {
  name: string;
  short: string;
  what: string;
  /** There is nothing before. */
  first?: boolean;
  last: boolean;
  onBack: () => void;
  onOn: () => void;
}) {
  return (
    <div className={css.stepper}>
      <Button
        kind="quiet"
        icon="back"
        aria-label={`The ${p.what} before`}
        title={`The ${p.what} before ([)`}
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
        aria-label={`The ${p.what} after`}
        title={`The ${p.what} after (])`}
        disabled={p.last}
        onClick={p.onOn}
      />
    </div>
  );
}
