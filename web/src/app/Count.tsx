import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { overview } from "#/api/overview";
import css from "./Count.module.css";
import { alerts } from "./screens";

/** How many things wait on each screen, by its path. */
export function useCounts(): Record<string, number | undefined> {
  const { data } = useQuery(overview);
  return { "/review": data && data.review.count + alerts(data), "/reports": data?.unread_reports };
}

/** A number of things to do; `quiet` if they are not urgent. */
export function Count({ n, quiet }: { n: number; quiet?: boolean }) {
  if (n === 0) return null;
  return (
    <span className={`${css.count} ${quiet ? css.quiet : ""}`}>
      <span className="sr">{t`, to do: ${n}`}</span>
      <span aria-hidden="true">{n > 999 ? "999+" : n}</span>
    </span>
  );
}

/** The first letter of the signed-in member's name. */
export const Face = ({ name }: { name: string | undefined }) => (
  <span className={css.face} data-face aria-hidden="true">
    {name ? [...name][0]?.toUpperCase() : "·"}
  </span>
);
