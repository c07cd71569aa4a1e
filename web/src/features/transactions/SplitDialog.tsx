import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { type Detail, split } from "#/api/transactions";
import { abs, cents, text } from "#/lib/money";
import { typed, written } from "#/lib/typed";
import { useCategories } from "#/parts/categories";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { useMoney } from "#/ui/Amount";
import { settle } from "#/ui/AmountField";
import { Button } from "#/ui/Button";
import { Choose, Entry } from "#/ui/Form";
import css from "./Split.module.css";
import { type Draft, maxParts, rest, touches } from "./split";

let key = 0;
const blank = (category: string | null, previous = category): Draft => ({
  key: ++key,
  amount: "",
  category: category ?? "",
  previous: previous ?? "",
});

/** Splits a transaction into parts. The last part gets what the entered amounts leave. */
export function SplitDialog({ of: tx, onClose }: { of: Detail; onClose: () => void }) {
  const { choices } = useCategories();
  const money = useMoney();
  const total = cents(tx.amount);
  const sign = total < 0n ? -1n : 1n;
  const had = tx.parts ?? [];
  const [last, setLast] = useState<Draft>(() => {
    const r = had.find((p) => p.is_remainder);
    return { ...blank(r ? r.category : tx.category), id: r?.id };
  });
  const [parts, setParts] = useState<Draft[]>(() =>
    had.length
      ? had
          .filter((p) => !p.is_remainder)
          .map((p) => ({ ...blank(p.category), id: p.id, amount: written(sign * cents(p.amount)) }))
      : [blank(null, tx.category)],
  );
  const left = rest(
    sign * total,
    parts.map((p) => p.amount),
  );
  const into = plural(parts.length + 1, { one: "Split into #", other: "Split into #" });
  const save = useAction({
    act: split,
    touches,
    text: into,
    change: (r) => r.change,
    quiet: true,
  });
  const change = (at: number, to: Partial<Draft>) =>
    setParts((all) => all.map((p) => (p.key === at ? { ...p, ...to } : p)));
  const options = [
    ["", t`Uncategorized`] as const,
    ...choices.map((c) => [c.value, c.hint ? `${c.hint}: ${c.label}` : c.label] as const),
  ];
  const submit = () => {
    if (left === null || left === 0n) return;
    const body = [...parts, last].map((p) => {
      const amount = p === last ? null : typed(p.amount);
      return {
        ...(p.id && { id: p.id }),
        ...(amount !== null && { amount: Number(text(sign * amount)) }),
        ...(p.category !== p.previous && { category: p.category || null }),
      };
    });
    save.mutate({ id: tx.id, parts: body }, { onSuccess: onClose });
  };
  const category = (p: Draft, label: string, onPick: (category: string) => void) => (
    <Choose label={label} options={options} value={p.category} onChange={(e) => onPick(e.target.value)} />
  );
  const amount = money(abs(total), tx.iso_currency_code);
  const over = money(abs(left ?? 0n), tx.iso_currency_code);
  const hint =
    left === null
      ? t`Enter an amount for each part, for example 12.50.`
      : left === 0n
        ? t`There’s nothing left for the last part. Reduce another amount.`
        : left < 0n
          ? sign > 0n
            ? t`The parts exceed the transaction by ${over}, so the last part becomes money in.`
            : t`The parts exceed the transaction by ${over}, so the last part becomes money out.`
          : t`The last part gets whatever remains, even if the bank changes the amount.`;
  return (
    <FormDialog
      open
      onClose={onClose}
      title={had.length ? t`Edit split` : t`Split transaction`}
      hint={t`Divide ${amount} across categories.`}
      act={into}
      busy={save.isPending || left === null || left === 0n}
      error={save.error}
      onSubmit={submit}
    >
      <ol className={css.parts}>
        {parts.map((p, i) => (
          <li key={p.key}>
            {category(p, t`Category for part ${{ part: i + 1 }}`, (to) => change(p.key, { category: to }))}
            <Entry
              label={t`Amount for part ${{ part: i + 1 }}`}
              inputMode="decimal"
              placeholder={written(0n)}
              value={p.amount}
              onChange={(e) => change(p.key, { amount: e.target.value })}
              onBlur={(e) => {
                settle(e.currentTarget);
                change(p.key, { amount: e.currentTarget.value });
              }}
            />
            <Button
              kind="quiet"
              icon="x"
              aria-label={t`Remove part ${{ part: i + 1 }}`}
              disabled={parts.length < 2}
              onClick={() => setParts((all) => all.filter((x) => x.key !== p.key))}
            />
          </li>
        ))}
        <li>
          {category(last, t`Category for remainder`, (to) => setLast((p) => ({ ...p, category: to })))}
          <output className={css.rest} aria-label={t`Remaining`}>
            {left === null ? "–" : money(left, tx.iso_currency_code)}
          </output>
        </li>
      </ol>
      <p className="small dim" role="status">
        {hint}
      </p>
      <Button
        icon="plus"
        disabled={parts.length + 1 >= maxParts}
        onClick={() => setParts((all) => [...all, blank(null, tx.category)])}
      >
        <Trans>Add part</Trans>
      </Button>
    </FormDialog>
  );
}
