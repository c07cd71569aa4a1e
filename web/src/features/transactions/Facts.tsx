import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { recorded } from "#/api/changes";
import { accountLinks, rejectPair } from "#/api/links";
import { payee, remove, restore, type Transaction, transaction } from "#/api/transactions";
import { dayFull, dayShort, localDay, moment } from "#/lib/dates";
import { cents } from "#/lib/money";
import { settle, showError, useEdit } from "#/parts/edit";
import { type Reason, reasons } from "#/parts/leftOut";
import { defaultTotalsWord } from "#/parts/pairs";
import { useAction } from "#/parts/useAction";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Select } from "#/ui/Form";
import { toasts } from "#/ui/toasts";
import css from "./Details.module.css";

/** The kinds of cached data that a decision about a pair changes. */
const touches = ["account-links", "overview", "transactions", "changes", "cashflow"];

/** The bank's data about a transaction, in the bank's own words. */
export function BankFacts({ of: tx }: { of: Transaction }) {
  const facts: [string, ReactNode][] = [
    [
      t`Description`,
      <bdi key="text" className="mono">
        {tx.name}
      </bdi>,
    ],
  ];
  if (tx.merchant_name && tx.merchant_name !== tx.name)
    facts.push([t`Merchant`, <bdi key="payee">{tx.merchant_name}</bdi>]);
  if (tx.detail) facts.push([t`Memo`, <bdi key="purpose">{tx.detail}</bdi>]);
  if (tx.authorized_date && tx.authorized_date !== tx.date) facts.push([t`Authorized on`, dayFull(tx.authorized_date)]);
  const bankCategory = tx.category_detailed ?? tx.category_primary;
  if (bankCategory) facts.push([t`Bank category`, bankCategory.replaceAll("_", " ").toLowerCase()]);
  facts.push([t`Added`, moment(tx.created_at)]);
  return (
    <section>
      <h2>{tx.origin === "manual" ? t`Entered details` : t`Bank details`}</h2>
      <dl className={css.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Link className="link" to="/transactions" search={{ similar: tx.short_id }}>
        <Trans>Similar transactions</Trans>
      </Link>
    </section>
  );
}

/** The other transaction of a pair: the other side of a transfer, or the same transaction in a duplicate account. */
export function OtherSide({ of: one, id, writes }: { of: Transaction; id: string; writes: boolean }) {
  const { data: tx } = useQuery(transaction(id));
  const links = useQuery({ ...accountLinks, enabled: writes }).data;
  const apart = useAction({
    act: (link: string) => recorded(rejectPair(link, one.id, id)),
    touches,
    text: t`Not a transfer. Both transactions count`,
    change: (r) => r.change,
  });
  if (!tx) return null;
  const duplicate = !one.transfer;
  const link = links?.find((l) =>
    [l.primary_account_id, l.mirror_account_id].every((a) => a === one.account_id || a === tx.account_id),
  );
  const account = tx.account_name;
  const day = dayShort(tx.date, localDay(new Date()));
  return (
    <section>
      <h2>{duplicate ? t`Duplicate transaction` : t`Matching transfer`}</h2>
      <p className={css.other}>
        <Link className="link cut" to="/transactions" search={(s) => ({ ...s, open: tx.short_id })} resetScroll={false}>
          <bdi>{payee(tx)}</bdi>
        </Link>
        <Amount value={cents(tx.amount)} currency={tx.iso_currency_code} />
        <span className="small dim">
          {duplicate ? (
            <Trans>
              <bdi>{account}</bdi>, {day}. Only one of the two counts.
            </Trans>
          ) : (
            <Trans>
              <bdi>{account}</bdi>, {day}. Transfers aren’t counted as income or spending.
            </Trans>
          )}
        </span>
      </p>
      {writes && one.transfer && link && (
        <Button icon="x" disabled={apart.isPending} onClick={() => apart.mutate(link.id)}>
          <Trans>Not a transfer</Trans>
        </Button>
      )}
    </section>
  );
}

/** Whether a transaction counts in totals and, if not, the reason. */
export function InTotals({ of: tx, writes }: { of: Transaction; writes: boolean }) {
  const edit = useEdit();
  if (!writes && !tx.excluded_reason) return null;
  const left = (r: Reason) => t`Excluded: ${{ reason: i18n._(reasons[r]) }}`;
  return (
    <section>
      {writes ? (
        <Select
          label={t`Totals`}
          value={tx.excluded_reason ?? ""}
          options={[
            ["", defaultTotalsWord(tx)],
            ...(Object.keys(reasons) as Reason[]).map((r) => [r, left(r)] as const),
          ]}
          onChange={(e) => {
            const reason = (e.target.value || null) as Reason | null;
            edit.mutate({
              operations: [{ transaction_id: tx.id, excluded_reason: reason }],
              text: reason ? t`Excluded from totals` : t`Counted in totals`,
              paint: (r) => ({ ...r, excluded_reason: reason }),
            });
          }}
        />
      ) : (
        <p>{tx.excluded_reason && left(tx.excluded_reason)}</p>
      )}
    </section>
  );
}

/** The purchase that a confirmed refund belongs to. */
export function RefundOf({ id }: { id: string }) {
  const { data: tx } = useQuery(transaction(id));
  if (!tx) return null;
  return (
    <section>
      <h2>
        <Trans>Refund of</Trans>
      </h2>
      <p className={css.other}>
        <Link className="link cut" to="/transactions" search={(s) => ({ ...s, open: tx.short_id })} resetScroll={false}>
          <bdi>{payee(tx)}</bdi>
        </Link>
        <Amount value={cents(tx.amount)} currency={tx.iso_currency_code} />
        <span className="small dim">
          {dayShort(tx.date, localDay(new Date()))}. <Trans>The refund counts in the category of this purchase.</Trans>
        </span>
      </p>
    </section>
  );
}

/** The button that deletes a transaction, or restores a deleted one. */
export function Gone({ of: tx }: { of: Transaction }) {
  const client = useQueryClient();
  const does = async (back: boolean) => {
    try {
      await (back ? restore(tx.id) : remove(tx.id));
      toasts.say({ text: back ? t`Transaction restored` : t`Transaction deleted`, undo: () => void does(!back) });
    } catch (e) {
      showError(e);
    }
    await settle(client);
  };
  return (
    <section>
      {tx.deleted_at ? (
        <Button icon="undo" onClick={() => void does(true)}>
          <Trans>Restore</Trans>
        </Button>
      ) : (
        <Button kind="quiet" icon="trash" onClick={() => void does(false)}>
          <Trans>Delete transaction</Trans>
        </Button>
      )}
    </section>
  );
}
