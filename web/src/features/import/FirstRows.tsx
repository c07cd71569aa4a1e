import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Fragment } from "react";
import type { FilePreview } from "#/api/files";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { sentence } from "#/parts/edit";
import { Amount } from "#/ui/Amount";
import { Badge } from "#/ui/Chip";
import { Table } from "#/ui/Lines";
import css from "./ImportPage.module.css";

/** A file's first rows as coffer reads them, so that people see a wrong sign or date before they import. */
export function FirstRows({ preview: p }: { preview: FilePreview }) {
  const today = localDay(new Date());
  const currency = p.default_currency ?? "";
  return (
    <div className={css.rows}>
      <Table
        label={t`Preview`}
        heads={[t`Row`, t`Date`, t`Payee`, t`Amount`]}
        num={[3]}
        rows={p.sample.map((r) => ({
          key: String(r.row),
          cells: [
            <span key="row" className="dim">
              {r.row}
            </span>,
            r.errors.length ? (
              <Badge key="day" mood="bad">
                <Trans>can’t be read</Trans>
              </Badge>
            ) : (
              dayShort(r.date, today)
            ),
            r.errors.length ? (
              r.errors.map((e) => sentence(e)).join(" ")
            ) : (
              <Fragment key="payee">
                <bdi>{r.merchant_name || r.name}</bdi>
                {r.detail && (
                  <span className="small dim">
                    {" "}
                    <bdi>{r.detail}</bdi>
                  </span>
                )}
              </Fragment>
            ),
            r.errors.length ? (
              ""
            ) : (
              <Amount key="amount" value={cents(r.amount)} currency={r.iso_currency_code ?? currency} />
            ),
          ],
        }))}
      />
    </div>
  );
}
