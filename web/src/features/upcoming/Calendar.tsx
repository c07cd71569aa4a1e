import { Link } from "@tanstack/react-router";
import type { UpcomingDay } from "#/api/upcoming";
import { dayFull } from "#/lib/dates";
import { cents } from "#/lib/money";
import { Amount } from "#/ui/Amount";
import { remark, weeks } from "./days";
import css from "./UpcomingPage.module.css";

const heads = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** So many payments of one day fit into a calendar; the others are counted. */
const most = 6;

/** A month as a table of weeks, for wide screens. */
export function Calendar({ month, today, days }: { month: string; today: string; days: readonly UpcomingDay[] }) {
  const of = new Map(days.map((d) => [d.date, d.items]));
  return (
    <table className={`${css.calendar} desk`} aria-label="Calendar">
      <thead>
        <tr>
          {heads.map((h) => (
            <th key={h} scope="col" abbr={h}>
              {h.slice(0, 3)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks(month).map((week) => (
          <tr key={week.find(Boolean)}>
            {week.map((day, i) => {
              const items = (day && of.get(day)) || [];
              return (
                <td
                  key={heads[i]}
                  className={!day ? css.other : day < today ? css.past : day === today ? css.today : undefined}
                >
                  {day && (
                    <time dateTime={day} title={dayFull(day)}>
                      {Number(day.slice(8))}
                    </time>
                  )}
                  {items.length > 0 && (
                    <ul>
                      {items.slice(0, most).map((item) => (
                        <li key={item.recurring_id + (item.due_date ?? "")} title={remark(item, today)}>
                          <Link to="/transactions" search={{ recurring: item.recurring_id }}>
                            <bdi>{item.name}</bdi>
                          </Link>
                          <span className={item.due_date ? css.late : undefined}>
                            {!item.certain && !item.due_date && <span className="dim">about </span>}
                            <Amount
                              value={cents(item.amount)}
                              currency={item.iso_currency_code}
                              quiet={!item.certain || item.transfer}
                            />
                            {item.due_date && <span className="small"> overdue</span>}
                            {item.transfer && <span className="small dim"> own transfer</span>}
                          </span>
                        </li>
                      ))}
                      {items.length > most && <li className="dim">and {items.length - most} more</li>}
                    </ul>
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
