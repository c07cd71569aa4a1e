import type { ConnectionHealth } from "#/api/connections";
import { dayShort, localDay } from "#/lib/dates";
import { Card } from "#/ui/Card";
import css from "./Accounts.module.css";
import { covering } from "./words";

const days = 28;

/** Which of the last days each bank was read for. */
export function HowFresh({ banks }: { banks: ConnectionHealth[] }) {
  const today = localDay(new Date());
  const shown = banks.filter((b) => b.provider !== "csv" && b.status !== "disconnected");
  if (shown.length === 0) return null;
  return (
    <Card title="How fresh is it all?">
      <ul>
        {shown.map((b) => {
          const all = covering(b.covered, today, days);
          const gone = all.filter((d) => !d.read);
          const name = b.institution_name ?? "A bank";
          const words = gone.length
            ? `${gone.length} of ${days} days missing, since ${dayShort(gone[0]?.day ?? today, today)}`
            : `all ${days} days read`;
          return (
            <li key={b.id} className={css.strip}>
              <span className="small cut">{name}</span>
              <svg role="img" aria-label={`${name}: ${words}`} viewBox={`0 0 ${days * 5} 14`}>
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
      <p className="small dim">The last {days} days. Filled: fetched. Outlined: missing.</p>
    </Card>
  );
}
