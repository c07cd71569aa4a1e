import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Rehearsal, RehearsedRow } from "#/api/rules";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { sentence } from "#/parts/edit";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Chip } from "#/ui/Chip";
import { Note } from "#/ui/Form";
import { Icon } from "#/ui/Icon";
import type { IconName } from "#/ui/icons";
import { type Bucket, buckets, figures } from "./buckets";
import css from "./Editor.module.css";

const icons: Record<Bucket, IconName> = { changes: "arrow", already_so: "check", held: "lock", overridden: "rules" };
const few = 9;
const n = (x: number) => x.toLocaleString("en");

type Props = { rehearsal: Rehearsal | undefined; lacks: string; error: unknown };

/** What the rule would do to the payments that are here, as it is typed. */
export function BeforeAfter({ rehearsal: r, lacks, error }: Props) {
  const [bucket, setBucket] = useState<Bucket>("changes");
  const [limit, setLimit] = useState(few);
  const rows = r?.[bucket] ?? [];
  const shown = rows.slice(0, limit);
  const all = r?.counts[bucket] ?? 0;
  return (
    <Card
      flush
      title="Before and after"
      aside={r && !lacks ? `${n(r.matched)} of ${n(r.scanned)} payments match` : undefined}
      foot={
        shown.length > 0 && (
          <>
            {n(shown.length)} of {n(all)} shown
            {rows.length > shown.length && (
              <Button kind="quiet" className="end" onClick={() => setLimit(100)}>
                Show {all > 100 ? "the newest 100" : `all ${n(all)}`}
              </Button>
            )}
          </>
        )
      }
    >
      {lacks ? (
        <Note>{lacks}</Note>
      ) : error ? (
        <Note mood="bad">{sentence(error instanceof Error ? error.message : "it could not be tried")}</Note>
      ) : !r ? (
        <Bones rows={6} />
      ) : (
        <>
          <fieldset className={css.buckets} aria-label="What would happen">
            {figures(r).map((f) => (
              <button
                key={f.bucket}
                type="button"
                aria-pressed={bucket === f.bucket}
                onClick={() => setBucket(f.bucket)}
              >
                <span className="row">
                  <Icon name={icons[f.bucket]} small /> {buckets[f.bucket]}
                </span>
                <b>{n(f.count)}</b>
                <span className="small dim">{f.says}</span>
              </button>
            ))}
          </fieldset>
          <ul aria-label={buckets[bucket]}>
            {shown.map((row) => (
              <Row key={`${row.transaction_id} ${row.field} ${row.after} ${row.before}`} row={row} bucket={bucket} />
            ))}
          </ul>
          {shown.length === 0 && <Note>{nothing[bucket]}</Note>}
        </>
      )}
    </Card>
  );
}

const nothing: Record<Bucket, string> = {
  changes: "No payment that is here would change. New ones will, as they come.",
  already_so: "No payment is filed so already.",
  held: "Nobody decided otherwise by hand.",
  overridden: "No other rule has a later word on these.",
};

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
          <span className="faint">no {r.field}</span>
        ) : (
          <Chip name={from} old={bucket === "changes" && from !== null} />
        )}
        <Icon name={bucket === "changes" ? "arrow" : bucket === "held" ? "lock" : "check"} small />
        <span className="sr">{bucket === "changes" ? "becomes" : "stays, not"}</span>
        {bucket === "overridden" ? (
          <span className="cut small dim">by “{r.overridden_by?.name}”</span>
        ) : to === null ? (
          <span className="faint">none</span>
        ) : (
          <Chip name={to} maker={bucket === "held" ? undefined : { kind: "rule" }} old={bucket === "held"} />
        )}
      </span>
    </li>
  );
}
