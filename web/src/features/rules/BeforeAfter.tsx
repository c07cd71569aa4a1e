import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "#/api/client";
import type { Rehearsal, RehearsedRow } from "#/api/rules";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { number } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { refusal } from "#/parts/refusals";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Chip } from "#/ui/Chip";
import { Note } from "#/ui/Form";
import { Icon } from "#/ui/Icon";
import type { IconName } from "#/ui/icons";
import { type Bucket, buckets, figures } from "./buckets";
import css from "./Editor.module.css";

const icons: Record<Bucket, IconName> = { changes: "arrow", already_so: "check", held: "lock", overridden: "rules" };
const few = 9;

type Props = { rehearsal: Rehearsal | undefined; lacks: string; error: unknown };

/** The effect of the rule on existing transactions. It is updated while the person types. */
export function BeforeAfter({ rehearsal: r, lacks, error }: Props) {
  const [bucket, setBucket] = useState<Bucket>("changes");
  const [limit, setLimit] = useState(few);
  const rows = r?.[bucket] ?? [];
  const shown = rows.slice(0, limit);
  const all = r?.counts[bucket] ?? 0;
  const [inAll, of] = [number(all), number(r?.scanned ?? 0)];
  return (
    <Card
      flush
      title={t`Preview`}
      aside={
        r && !lacks
          ? plural(
              { matching: r.matched },
              { one: `# of ${of} transactions matches`, other: `# of ${of} transactions match` },
            )
          : undefined
      }
      foot={
        shown.length > 0 && (
          <>
            {plural({ shown: shown.length }, { one: `# of ${inAll} shown`, other: `# of ${inAll} shown` })}
            {rows.length > shown.length && (
              <Button kind="quiet" className="end" onClick={() => setLimit(100)}>
                {all > 100 ? t`Show latest 100` : plural({ all }, { one: "Show #", other: "Show all #" })}
              </Button>
            )}
          </>
        )
      }
    >
      {lacks ? (
        <Note>{lacks}</Note>
      ) : error ? (
        <Note mood="bad">
          {error instanceof ApiError ? refusal(error) : t`Can’t reach the server. Nothing was changed.`}
        </Note>
      ) : !r ? (
        <Skeleton rows={6} />
      ) : (
        <>
          <fieldset className={css.buckets} aria-label={t`Result`}>
            {figures(r).map((f) => (
              <button
                key={f.bucket}
                type="button"
                aria-pressed={bucket === f.bucket}
                onClick={() => setBucket(f.bucket)}
              >
                <span className="row">
                  <Icon name={icons[f.bucket]} small /> {i18n._(buckets[f.bucket])}
                </span>
                <b>{number(f.count)}</b>
                <span className="small dim">{f.says}</span>
              </button>
            ))}
          </fieldset>
          <ul aria-label={i18n._(buckets[bucket])}>
            {shown.map((row) => (
              <Row key={`${row.transaction_id} ${row.field} ${row.after} ${row.before}`} row={row} bucket={bucket} />
            ))}
          </ul>
          {shown.length === 0 && <Note>{i18n._(r.matched ? nothing[bucket] : unmatched)}</Note>}
        </>
      )}
    </Card>
  );
}

const nothing: Record<Bucket, MessageDescriptor> = {
  changes: msg`No existing transactions would change. New ones will.`,
  already_so: msg`None have this value yet.`,
  held: msg`None are locked.`,
  overridden: msg`No other rule overrides this one.`,
};

const unmatched = msg`No existing transactions match.`;

/** Text for screen readers between the current value and the rule's value. */
const between: Record<Bucket, MessageDescriptor> = {
  changes: msg`changes to`,
  already_so: msg`is already`,
  held: msg`is locked and does not change to`,
  overridden: msg`is set`,
};

const none = { counterparty: msg`no payee`, tag: msg`no tag` };

function Row({ row: r, bucket }: { row: RehearsedRow; bucket: Bucket }) {
  const { name } = useCategories();
  const word = (v: string | null) => (v === null ? null : r.field === "category" ? name(v) : v);
  const from = word(r.before);
  const to = word(r.after);
  return (
    <li className={css.row4}>
      <span>
        <Link className="cut" to="/transactions" search={{ open: r.transaction_id }}>
          <bdi>{r.name}</bdi>
        </Link>
        <span className="small dim">{dayShort(r.date, localDay(new Date()))}</span>
      </span>
      <span className="num">
        <Amount value={cents(r.amount)} currency={r.iso_currency_code} />
      </span>
      <span className={css.becomes}>
        {from === null && r.field !== "category" ? (
          <span className="faint">{i18n._(none[r.field])}</span>
        ) : (
          <Chip name={from} old={bucket === "changes" && from !== null} />
        )}
        <Icon name={bucket === "changes" ? "arrow" : bucket === "held" ? "lock" : "check"} small />
        <span className="sr">{i18n._(between[bucket])}</span>
        {bucket === "overridden" ? (
          <span className="cut small dim">
            <Trans>by “{{ rule: r.overridden_by?.name ?? "" }}”</Trans>
          </span>
        ) : to === null ? (
          <span className="faint">
            <Trans>empty</Trans>
          </span>
        ) : (
          <Chip name={to} author={bucket === "held" ? undefined : { kind: "rule" }} old={bucket === "held"} />
        )}
      </span>
    </li>
  );
}
