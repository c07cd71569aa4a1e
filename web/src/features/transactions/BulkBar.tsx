import { abs, cents } from "#/lib/money";
import { payments } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Chip } from "#/ui/Chip";
import css from "./BulkBar.module.css";
import type { What } from "./Pickers";
import type { Trial } from "./useTrial";

type Props = {
  count: number;
  /** How many match in all, if more can be chosen than are. */
  more: number | null;
  onAll: () => void;
  onAsk: (what: What, at: Element) => void;
  onClear: () => void;
};

/** What can be done with the chosen payments. It stays in reach while the list is scrolled. */
export function BulkBar({ count, more, onAll, onAsk, onClear }: Props) {
  return (
    <section className={css.bar} aria-label="Chosen payments">
      <strong>{count.toLocaleString("en")} chosen</strong>
      {more !== null && (
        <Button kind="quiet" onClick={onAll}>
          Choose all {more.toLocaleString("en")}
        </Button>
      )}
      <span className={css.acts}>
        <Button kind="filled" keyed="C" onClick={(e) => onAsk("category", e.currentTarget)}>
          File under
        </Button>
        <Button icon="tag" keyed="T" onClick={(e) => onAsk("tag", e.currentTarget)}>
          Tag
        </Button>
        <Button keyed="P" onClick={(e) => onAsk("payee", e.currentTarget)}>
          Payee
        </Button>
        <Button icon="note" keyed="M" onClick={(e) => onAsk("comment", e.currentTarget)}>
          Comment
        </Button>
      </span>
      <span className={css.none}>
        <Button kind="quiet" icon="x" aria-label="Choose none" title="Choose none (Esc)" onClick={onClear} />
      </span>
    </section>
  );
}

type StripProps = { trial: Trial; busy: boolean; onYes: () => void; onSpare: () => void; onNo: () => void };

/** What a change of many payments would do, before it is done. */
export function TrialStrip({ trial, busy, onYes, onSpare, onNo }: StripProps) {
  const { name, look } = useCategories();
  const money = useMoney();
  const { deed, would: w, again, byHand } = trial;
  const more = byHand.count - byHand.names.length;
  const after = deed.set.category;
  return (
    <section className={`${css.bar} ${css.trial}`} aria-label="Before it is done">
      <strong>{w.changed ? `${deed.ask(w.changed)}?` : "Nothing would change"}</strong>
      {again && <p className={css.again}>Meanwhile another number of payments matches. Look again.</p>}
      {after !== undefined && w.by_category.length > 0 && (
        <p className={css.now}>
          <span className="dim">Now:</span>
          {w.by_category.slice(0, 6).map((c) => (
            <span key={c.before ?? ""} className={css.one}>
              <Chip name={c.before ? name(c.before) : null} tone={look(c.before).tone} />
              <span className="small dim">
                {c.count.toLocaleString("en")}
                {c.before === after && " already so"}
              </span>
            </span>
          ))}
          {w.by_category.length > 6 && (
            <span className="small dim">and {w.by_category.length - 6} more categories</span>
          )}
        </p>
      )}
      <p className="small dim">
        {w.sample
          .slice(0, 3)
          .map(
            (t) =>
              `${t.name.slice(0, 32)} ${t.amount < 0 ? "+" : ""}${money(abs(cents(t.amount)), t.iso_currency_code)}`,
          )
          .join(", ")}
        {w.matched > 3 && ` and ${(w.matched - 3).toLocaleString("en")} more`}
      </p>
      {byHand.count > 0 && (
        <p className={css.again}>
          {payments(byHand.count)} of them {byHand.count === 1 ? "was" : "were"} filed by a person:{" "}
          <bdi>{byHand.names.join(", ")}</bdi>
          {more > 0 && ` and ${more.toLocaleString("en")} more`}.
        </p>
      )}
      {w.held > 0 && <p className={css.again}>{payments(w.held)} stay as a person set them.</p>}
      {w.pending_left > 0 && <p className="small dim">{payments(w.pending_left)} are pending and stay to review.</p>}
      <div className="row wrap">
        <Button kind="filled" disabled={busy || w.changed === 0} onClick={onYes}>
          {w.changed ? deed.ask(w.changed) : "Nothing to do"}
        </Button>
        {byHand.count > 0 && byHand.count < w.matched && <Button onClick={onSpare}>Leave those as they are</Button>}
        <Button kind="quiet" onClick={onNo}>
          Cancel
        </Button>
      </div>
    </section>
  );
}
