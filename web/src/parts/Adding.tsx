import { plural, t } from "@lingui/core/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { session } from "#/api/session";
import { overlay } from "#/lib/overlay";
import { useCan } from "#/parts/rights";
import { Icon } from "#/ui/Icon";
import css from "./Adding.module.css";
import { handOver, install, waiting, whenever } from "./addQueue";

const PaymentForm = lazy(() => import("./PaymentForm").then((m) => ({ default: m.PaymentForm })));

/** The screens of a phone's navigation bar that have the floating button. */
const tabs = ["/", "/review", "/transactions", "/budget"];

/**
 * Lets people add transactions on every screen, with the form that the search opens or with a phone's floating button.
 * The button shows how many transactions still wait to be sent.
 */
export function Adding() {
  const open = overlay.use() === "add";
  const can = useCan();
  const client = useQueryClient();
  const me = useQuery(session).data?.user?.id;
  const path = useLocation({ select: (l) => l.pathname });
  const [waits, setWaits] = useState(0);
  useEffect(() => void install(), []);
  useEffect(() => {
    if (!me) return;
    let here = true;
    const count = () =>
      waiting(me).then(
        (all) => here && setWaits(all.length),
        () => {},
      );
    void handOver(me).catch(() => {});
    void count();
    const stop = whenever((s) => {
      if (s.done.size) void client.invalidateQueries();
      void count();
    });
    return () => {
      here = false;
      setWaits(0);
      stop();
    };
  }, [client, me]);
  return (
    <>
      {can.write && tabs.includes(path) && (
        <aside aria-label={t`Add transaction`}>
          <a
            className={css.add}
            data-floats
            href={`/add?from=${path}`}
            aria-label={
              waits
                ? plural(waits, { one: "Add transaction, # not sent yet", other: "Add transaction, # not sent yet" })
                : t`Add transaction`
            }
          >
            <Icon name="plus" />
            {waits > 0 && (
              <span className={css.wait} aria-hidden="true">
                {waits}
              </span>
            )}
          </a>
        </aside>
      )}
      <Suspense>{open && <PaymentForm onClose={() => overlay.set(null)} />}</Suspense>
    </>
  );
}
