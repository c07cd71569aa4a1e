import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { Upcoming, UpcomingDay, UpcomingItem } from "#/api/upcoming";
import { dayFull } from "#/lib/dates";
import { cents } from "#/lib/money";
import { firstWeekday, weekdays } from "#/lib/week";
import { Amount } from "#/ui/Amount";
import { accountOf, ahead, remark, weeks } from "./days";
import css from "./UpcomingPage.module.css";

/** The most transactions of a day that fit into the calendar. The rest is only counted. */
const limit = 6;

const Sum = ({ item }: { item: UpcomingItem }) => (
  <Amount value={cents(item.amount)} currency={item.iso_currency_code} quiet={!item.certain || item.transfer} />
);

const Account = ({ name }: { name: string | undefined }) => name && <bdi className="cut dim">{name}</bdi>;

type Props = { month: string; today: string; days: readonly UpcomingDay[]; all: Upcoming };

/** A month as a table of weeks, for wide screens. */
export function Calendar({ month, today, days, all }: Props) {
  const of = new Map(days.map((d) => [d.date, d.items]));
  const heads = weekdays(firstWeekday);
  return (
    <table className={`${css.calendar} desk`} aria-label={t`Calendar`}>
      <thead>
        <tr>
          {heads.map((h) => (
            <th key={h.name} scope="col" abbr={h.name}>
              {h.short}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks(month)
          .filter((week) => ahead(week, today))
          .map((week) => (
            <tr key={week.find(Boolean)}>
              {week.map((day, i) => {
                const items = (day && of.get(day)) || [];
                return (
                  <td
                    key={heads[i]?.name}
                    className={!day ? css.other : day < today ? css.past : day === today ? css.today : undefined}
                  >
                    {day && (
                      <time dateTime={day} title={dayFull(day)}>
                        {Number(day.slice(8))}
                      </time>
                    )}
                    {items.length > 0 && (
                      <ul>
                        {items.slice(0, limit).map((item) => (
                          <li key={item.recurring_id + (item.due_date ?? "")} title={remark(item, today)}>
                            <Link to="/recurring/$id" params={{ id: item.recurring_id }}>
                              <bdi>{item.name}</bdi>
                            </Link>
                            <Account name={accountOf(item, all)} />
                            <span className={item.due_date ? css.late : undefined}>
                              {item.certain || item.due_date ? (
                                <Sum item={item} />
                              ) : (
                                <Trans>
                                  <span className="dim">about</span> <Sum item={item} />
                                </Trans>
                              )}
                              {item.due_date && (
                                <>
                                  {" "}
                                  <span className="small">
                                    <Trans>overdue</Trans>
                                  </span>
                                </>
                              )}
                              {item.transfer && (
                                <>
                                  {" "}
                                  <span className="small dim">
                                    <Trans>transfer</Trans>
                                  </span>
                                </>
                              )}
                            </span>
                          </li>
                        ))}
                        {items.length > limit && (
                          <li className="dim">
                            {plural({ count: items.length - limit }, { one: "+# more", other: "+# more" })}
                          </li>
                        )}
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
