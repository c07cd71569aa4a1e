import { t } from "@lingui/core/macro";
import { Link } from "@tanstack/react-router";
import type { Upcoming, UpcomingDay } from "#/api/upcoming";
import { dayInMonth } from "#/lib/dates";
import { cents } from "#/lib/money";
import { Amount } from "#/ui/Amount";
import { Item, Lines } from "#/ui/Lines";
import { accountOf, remark } from "./days";

/** The days as a list, for narrow screens. */
export function DayList({ today, days, all }: { today: string; days: readonly UpcomingDay[]; all: Upcoming }) {
  return (
    <div className="phone">
      <Lines label={t`By day`}>
        {days.flatMap((d) =>
          d.items.map((item) => (
            <Item
              key={d.date + item.recurring_id + (item.due_date ?? "")}
              name={<bdi>{item.name}</bdi>}
              open={(name) => (
                <Link to="/recurring/$id" params={{ id: item.recurring_id }}>
                  {name}
                </Link>
              )}
              hint={[d.date === today ? t`Today` : dayInMonth(d.date), remark(item, today), accountOf(item, all)]
                .filter(Boolean)
                .join(" · ")}
              end={<Amount value={cents(item.amount)} currency={item.iso_currency_code} />}
            />
          )),
        )}
      </Lines>
    </div>
  );
}
