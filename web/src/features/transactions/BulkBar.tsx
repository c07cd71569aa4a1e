import { i18n } from "@lingui/core";
import { plural, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { localDay } from "#/lib/dates";
import { abs, cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Chip } from "#/ui/Chip";
import type { SumIn } from "./added";
import css from "./BulkBar.module.css";
import { daysName } from "./chips";
import type { What } from "./Pickers";
import { useSumWords } from "./Sums";
import type { Trial } from "./useTrial";

type Props = {
  count: number;
  /** The sums of the selected transactions. */
  sums: SumIn[];
  /** The days of the selected transactions, unless there are too many. */
  days: string[];
  /** How many transactions match in total; null if no more can be selected. */
  more: number | null;
  onAll: () => void;
  onAsk: (what: What, at: Element) => void;
  onClear: () => void;
};

/** The actions for the selected transactions. The bar stays in view while the list scrolls. */
export function BulkBar({ count, sums, days, more, onAll, onAsk, onClear }: Props) {
  const words = useSumWords();
  const [from, to] = [days.toSorted()[0], days.toSorted().at(-1)];
  return (
    <section className={css.bar} aria-label={t`Selected transactions`}>
      <div className={css.what}>
        <strong>
          <Plural value={count} one="# selected" other="# selected" />
        </strong>
        {sums.map((s) => (
          <span key={s.currency} className="small" data-selected={s.currency}>
            {words(s)
              .map((w) => `${w.kind} ${w.value}`)
              .join(" · ")}
          </span>
        ))}
        {from && <span className="small dim">{daysName({ from, to }, localDay(new Date()))}</span>}
      </div>
      {more !== null && (
        <Button kind="quiet" onClick={onAll}>
          <Plural value={more} one="Select #" other="Select all #" />
        </Button>
      )}
      <span className={css.acts}>
        <Button kind="filled" keyed="C" onClick={(e) => onAsk("category", e.currentTarget)}>
          <Trans>Categorize</Trans>
        </Button>
        <Button icon="tag" keyed="T" onClick={(e) => onAsk("tag", e.currentTarget)}>
          <Trans>Tag</Trans>
        </Button>
        <Button keyed="P" onClick={(e) => onAsk("payee", e.currentTarget)}>
          <Trans>Payee</Trans>
        </Button>
        <Button icon="note" keyed="M" onClick={(e) => onAsk("comment", e.currentTarget)}>
          <Trans>Comment</Trans>
        </Button>
      </span>
      <span className={css.none}>
        <Button
          kind="quiet"
          icon="x"
          aria-label={t`Clear selection`}
          title={t`Clear selection (Esc)`}
          onClick={onClear}
        />
      </span>
    </section>
  );
}

/** Some names, and the number of further ones. */
function andMore(names: string[], more: number): string {
  const list = names.join(", ");
  return more > 0 ? plural(more, { one: `${list} and # more`, other: `${list} and # more` }) : list;
}

type StripProps = { trial: Trial; busy: boolean; onYes: () => void; onSpare: () => void; onNo: () => void };

/** The preview of a change to many transactions, with buttons to confirm it. */
export function TrialStrip({ trial, busy, onYes, onSpare, onNo }: StripProps) {
  const { name, look } = useCategories();
  const money = useMoney();
  const { change, would: w, again, byHand } = trial;
  const names = andMore(byHand.names, byHand.count - byHand.names.length);
  const after = change.set.category;
  return (
    <section className={`${css.bar} ${css.trial}`} aria-label={t`Preview`}>
      <strong>{w.changed ? t`${{ action: change.ask(w.changed) }}?` : t`Nothing to change`}</strong>
      {again && (
        <p className={css.again}>
          <Trans>The matching transactions changed. Check the preview again.</Trans>
        </p>
      )}
      {after !== undefined && w.by_category.length > 0 && (
        <p className={css.now}>
          <span className="dim">{t`Current:`}</span>
          {w.by_category.slice(0, 6).map((c) => (
            <span key={c.before ?? ""} className={css.one}>
              <Chip name={c.before ? name(c.before) : null} tone={look(c.before).tone} />
              <span className="small dim">
                {i18n.number(c.count)}
                {c.before === after && ` · ${t`no change`}`}
              </span>
            </span>
          ))}
          {w.by_category.length > 6 && (
            <span className="small dim">
              <Plural value={w.by_category.length - 6} one="and # more" other="and # more" />
            </span>
          )}
        </p>
      )}
      <p className="small dim">
        {andMore(
          w.sample
            .slice(0, 3)
            .map(
              (x) =>
                `${x.name.slice(0, 32)} ${x.amount < 0 ? "+" : ""}${money(abs(cents(x.amount)), x.iso_currency_code)}`,
            ),
          w.matched - 3,
        )}
      </p>
      {byHand.count > 0 && (
        <p className={css.again}>
          <Trans>
            <Plural value={byHand.count} one="# was categorized by a person:" other="# were categorized by a person:" />{" "}
            <bdi>{names}</bdi>
          </Trans>
        </p>
      )}
      {w.held > 0 && (
        <p className={css.again}>
          <Plural value={w.held} one="# is locked and won’t change." other="# are locked and won’t change." />
        </p>
      )}
      {w.pending_left > 0 && (
        <p className="small dim">
          <Plural
            value={w.pending_left}
            one="# pending transaction stays in Review."
            other="# pending transactions stay in Review."
          />
        </p>
      )}
      <div className="row wrap">
        <Button kind="filled" disabled={busy || w.changed === 0} onClick={onYes}>
          {w.changed ? change.ask(w.changed) : t`Nothing to change`}
        </Button>
        {byHand.count > 0 && byHand.count < w.matched && (
          <Button onClick={onSpare}>
            <Trans>Skip those</Trans>
          </Button>
        )}
        <Button kind="quiet" onClick={onNo}>
          <Trans>Cancel</Trans>
        </Button>
      </div>
    </section>
  );
}
