import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { abs, type Cents, dollars, money, parts } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import css from "./Amount.module.css";

const dots = "••••";

/** The amount of a transaction. Money in has a plus sign and is green. */
export function Amount({ value, currency, quiet }: { value: Cents; currency: string; quiet?: boolean }) {
  if (amounts.use() === "hidden") return <Hidden />;
  const incoming = value < 0n;
  return (
    <span className={`${css.amount} ${incoming ? css.in : ""} ${quiet ? css.quiet : ""}`}>
      <span className="sr">{incoming ? t`money in` : t`money out`} </span>
      {incoming ? "+" : ""}
      {money(abs(value), currency)}
    </span>
  );
}

/** A balance or a sum, with its sign. */
export function Sum({ value, currency }: { value: Cents; currency: string }) {
  return amounts.use() === "hidden" ? <Hidden /> : <span className={css.amount}>{money(value, currency)}</span>;
}

/** The cost of a model in US dollars; null if the model's price is unknown. */
export function Cost({ usd }: { usd: number | null }) {
  if (amounts.use() === "hidden") return <Hidden />;
  return usd === null ? <Trans>unknown</Trans> : <span className={css.amount}>{dollars(usd)}</span>;
}

/** A large figure, with smaller decimals. */
export function Figure(p: { value: Cents; currency: string; size: "large" | "middle" | "small" }) {
  const hidden = amounts.use() === "hidden";
  const [whole, rest] = parts(p.value, p.currency);
  return (
    <span className={`${css.figure} ${css[p.size]}`}>
      {hidden ? (
        <Hidden />
      ) : (
        <>
          {whole}
          <span className={css.rest}>{rest}</span>
        </>
      )}
    </span>
  );
}

function Hidden() {
  return (
    <span className={css.amount}>
      <span aria-hidden="true">{dots}</span>
      <span className="sr">
        <Trans>hidden</Trans>
      </span>
    </span>
  );
}

/** For text in a chart: a function that returns an amount as text, or dots if amounts are hidden. */
export function useMoney(): (value: Cents, currency: string) => string {
  const hidden = amounts.use() === "hidden";
  return (value, currency) => (hidden ? dots : money(value, currency));
}
