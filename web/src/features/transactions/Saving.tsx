import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { lazy, Suspense, useState } from "react";
import { exportOf } from "#/api/transactions";
import type { TransactionsSearch } from "#/lib/address";
import { useKeys } from "#/lib/keys";
import { useCan } from "#/parts/rights";
import { Button } from "#/ui/Button";
import { toasts } from "#/ui/toasts";
import { filtersOf } from "./filters";
import type { useView } from "./useView";

const ViewDialog = lazy(() => import("./lazy").then((m) => ({ default: m.ViewDialog })));

/** Saves the list: its filters as a view, or its rows as a file. */
export function Saving({ search, views }: { search: TransactionsSearch; views: ReturnType<typeof useView> }) {
  const { view, changed, left, narrowed } = views;
  const [saving, setSaving] = useState(false);
  const may = useCan().write;
  const save = () => {
    if (narrowed || view) setSaving(true);
    else toasts.say({ text: t`Add a filter before you save a view.` });
  };
  useKeys(may ? { v: save } : {});
  return (
    <>
      {may && (narrowed || view) && (
        <Button kind="quiet" icon={view ? "edit" : "plus"} keyed="V" onClick={save}>
          {view ? (changed ? t`Update view` : t`Edit view`) : t`Save view`}
        </Button>
      )}
      <a className="link" href={exportOf(filtersOf(search))} download title={t`Download these transactions as CSV`}>
        <Trans>Export</Trans>
      </a>
      {saving && (
        <Suspense>
          <ViewDialog view={view} filters={filtersOf(search)} left={left} onClose={() => setSaving(false)} />
        </Suspense>
      )}
    </>
  );
}
