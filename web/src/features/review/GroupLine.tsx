import { plural, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import { dayOfWeek, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useSwipe } from "#/lib/swipe";
import { transactions } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Chip, Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { type Group, reasonOf } from "./groups";
import css from "./ReviewPage.module.css";

type Props = {
  group: Group;
  current: boolean;
  writes: boolean;
  onChoose: (g: Group) => void;
  onAgree: (g: Group) => void;
  onFile: (g: Group, at: Element) => void;
  onOther: (g: Group, category: string) => void;
  onRule: (g: Group) => void;
};

/** One payee: the category of its transactions, the source of the category, and a button to approve it. */
export const GroupLine = memo(function GroupLine({ group: g, current, writes, ...on }: Props) {
  const { look, name } = useCategories();
  const acts = writes && g.ready > 0;
  const swipe = useSwipe({
    right: acts && !g.open ? () => on.onAgree(g) : undefined,
    left: acts
      ? () => {
          const at = document.querySelector(`[data-key="${CSS.escape(g.key)}"] [data-chip]`);
          if (at) on.onFile(g, at);
        }
      : undefined,
  });
  const first = g.sample[0];
  const wording = first && first.name !== g.payee_name ? first.name : "";
  const about = [
    g.accounts.length > 1 ? plural(g.accounts.length, { one: "# account", other: "# accounts" }) : "",
    g.pending ? plural(g.pending, { one: "# pending", other: "# pending" }) : "",
  ].filter(Boolean);
  const filed = g.files ? name(g.files.category) : g.open ? null : t`Multiple categories`;
  return (
    <li className={`${css.group} ${current ? css.on : ""}`} data-key={g.key} data-current={current || undefined}>
      {swipe.by !== 0 && (
        <span className={`${css.behind} ${swipe.by > 0 ? css.yes : css.other}`} aria-hidden="true">
          <Icon name={swipe.by > 0 ? "check" : "tag"} small />
          {swipe.by > 0 ? t`Approve` : t`Categorize`}
        </span>
      )}
      <div
        className={css.line}
        data-swipe
        style={swipe.by ? { transform: `translateX(${swipe.by}px)` } : undefined}
        {...swipe.on}
      >
        <Tile {...look(g.files?.category)} large />
        <button type="button" className={css.name} aria-expanded={current} onClick={() => on.onChoose(g)}>
          <span className="cut strong">
            <bdi>{g.payee_name}</bdi>
          </span>
          <span className={`small dim ${css.about}`}>
            {about.length > 0 && <span>{about.join(" · ")}</span>}
            {wording && <bdi className="cut">{wording}</bdi>}
          </span>
        </button>
        <div className={css.suggested}>
          {acts ? (
            <button
              type="button"
              className={css.chip}
              data-chip
              title={t`Change category (C)`}
              onClick={(e) => on.onFile(g, e.currentTarget)}
            >
              <Chip name={filed} author={g.files?.author} />
            </button>
          ) : (
            <Chip name={filed} author={g.files?.author} />
          )}
          <span className="small dim">{reasonOf(g)}</span>
        </div>
        <div className={css.sum}>
          {g.sums.map((s) => (
            <Amount key={s.currency} value={s.total} currency={s.currency} />
          ))}
          <span className="small dim">{transactions(g.count)}</span>
        </div>
        {acts && (
          <div className={css.act}>
            {g.open ? (
              <Button
                kind={current ? "filled" : "plain"}
                icon="tag"
                keyed={current ? "C" : undefined}
                onClick={(e) => on.onFile(g, e.currentTarget)}
              >
                <Trans>Categorize</Trans>
              </Button>
            ) : (
              <Button
                kind={current ? "filled" : "plain"}
                icon="check"
                keyed={current ? "A" : undefined}
                onClick={() => on.onAgree(g)}
              >
                <Trans>Approve</Trans>
              </Button>
            )}
          </div>
        )}
      </div>
      {current && (
        <div className={css.below}>
          {acts && (
            <p className={css.others}>
              {g.others.length > 0 && <span className="small dim">{t`Or use`}</span>}
              {g.others.map((c, i) => (
                <Button key={c} keyed={`${i + 1}`} onClick={() => on.onOther(g, c)}>
                  {name(c)}
                </Button>
              ))}
              <Button kind="quiet" icon="rules" keyed="R" onClick={() => on.onRule(g)}>
                <Trans>Create rule</Trans>
              </Button>
            </p>
          )}
          <ul className={css.inner}>
            {g.sample.map((r) => (
              <li key={r.id}>
                <span className="dim">{dayOfWeek(r.date, localDay(new Date()))}</span>
                <Link className="cut" to="/transactions" search={{ open: r.short_id }}>
                  <bdi>{r.name}</bdi>
                </Link>
                <span className={`cut dim ${css.account}`}>{r.category ? name(r.category) : t`Uncategorized`}</span>
                <Amount value={cents(r.amount)} currency={r.iso_currency_code} />
              </li>
            ))}
            {g.count > g.sample.length && (
              <li className="small dim">
                <Plural value={g.count - g.sample.length} one="and # more" other="and # more" />
              </li>
            )}
          </ul>
        </div>
      )}
    </li>
  );
});
