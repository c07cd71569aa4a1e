import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ConnectionHealth } from "#/api/connections";
import { dayShort, localDay } from "#/lib/dates";
import { fromFiles } from "#/lib/provider";
import { Card } from "#/ui/Card";
import css from "./Accounts.module.css";
import { covering } from "./words";

const days = 28;

/** The days among the last ones for which each bank was synced. */
export function SyncHistory({ banks }: { banks: ConnectionHealth[] }) {
  const today = localDay(new Date());
  const shown = banks.filter((b) => !fromFiles(b) && b.status !== "disconnected");
  if (shown.length === 0) return null;
  return (
    <Card title={t`Sync history`}>
      <ul>
        {shown.map((b) => {
          const all = covering(b.covered, today, days);
          const gone = all.filter((d) => !d.read);
          const name = b.institution_name ?? t`Bank`;
          const day = dayShort(gone[0]?.day ?? today, today);
          const words = gone.length
            ? plural(
                { missing: gone.length },
                {
                  one: `${name}: # of ${days} days missing since ${day}`,
                  other: `${name}: # of ${days} days missing since ${day}`,
                },
              )
            : t`${name}: all ${days} days synced`;
          return (
            <li key={b.id} className={css.strip}>
              <span className="small cut">{name}</span>
              <svg role="img" aria-label={words} viewBox={`0 0 ${days * 5} 14`}>
                {all.map((d, i) => (
                  <rect
                    key={d.day}
                    className={d.read ? css.read : css.gone}
                    x={i * 5 + 0.75}
                    y="0.75"
                    width="3.5"
                    height="12.5"
                    rx="1"
                  />
                ))}
              </svg>
            </li>
          );
        })}
      </ul>
      <p className="small dim">
        <Trans>Last {days} days. Filled: synced. Outlined: missing.</Trans>
      </p>
    </Card>
  );
}
