import { useState } from "react";
import { type Detail, split } from "#/api/transactions";
import { abs, cents, text, typed } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Choose, Entry } from "#/ui/Form";
import css from "./Split.module.css";
import { type Draft, most, rest, touches } from "./split";

let key = 0;
const blank = (category: string | null, was = category): Draft => ({
  key: ++key,
  amount: "",
  category: category ?? "",
  was: was ?? "",
});

/** Divides a payment into parts: what one writes is taken off, and the last part has the rest. */
export function SplitDialog({ of: t, onClose }: { of: Detail; onClose: () => void }) {
  const { choices } = useCategories();
  const money = useMoney();
  const whole = cents(t.amount);
  const sign = whole < 0n ? -1n : 1n;
  const had = t.parts ?? [];
  const [last, setLast] = useState<Draft>(() => {
    const r = had.find((p) => p.is_remainder);
    return { ...blank(r ? r.category : t.category), id: r?.id };
  });
  const [parts, setParts] = useState<Draft[]>(() =>
    had.length
      ? had
          .filter((p) => !p.is_remainder)
          .map((p) => ({ ...blank(p.category), id: p.id, amount: text(sign * cents(p.amount)) }))
      : [blank(null, t.category)],
  );
  const left = rest(
    sign * whole,
    parts.map((p) => p.amount),
  );
  const save = useDeed({
    act: split,
    touches,
    said: `Split into ${parts.length + 1} parts`,
    change: (r) => r.change,
    quiet: true,
  });
  const change = (at: number, to: Partial<Draft>) =>
    setParts((all) => all.map((p) => (p.key === at ? { ...p, ...to } : p)));
  const options = [
    ["", "No category"] as const,
    ...choices.map((c) => [c.value, c.hint ? `${c.hint}: ${c.label}` : c.label] as const),
  ];
  const submit = () => {
    if (left === null || left === 0n) return;
    const body = [...parts, last].map((p) => {
      const amount = p === last ? null : typed(p.amount);
      return {
        ...(p.id && { id: p.id }),
        ...(amount !== null && { amount: Number(text(sign * amount)) }),
        ...(p.category !== p.was && { category: p.category || null }),
      };
    });
    save.mutate({ id: t.id, parts: body }, { onSuccess: onClose });
  };
  const category = (p: Draft, name: string, onPick: (category: string) => void) => (
    <Choose
      label={`Category of ${name}`}
      options={options}
      value={p.category}
      onChange={(e) => onPick(e.target.value)}
    />
  );
  const said =
    left === null
      ? "Write an amount such as 12.50 in each part."
      : left === 0n
        ? "Nothing is left for the last part. Take something off the others."
        : left < 0n
          ? `The parts are ${money(abs(left), t.iso_currency_code)} more than the payment, so the last one is money ${sign > 0n ? "in" : "out"}.`
          : "The last part has what the others leave, also if the bank changes the amount.";
  return (
    <FormDialog
      open
      onClose={onClose}
      title={had.length ? "Change the parts" : "Split this payment"}
      hint={`${money(abs(whole), t.iso_currency_code)} in parts with categories of their own.`}
      act={`Split into ${parts.length + 1} parts`}
      busy={save.isPending || left === null || left === 0n}
      error={save.error}
      onSubmit={submit}
    >
      <ol className={css.parts}>
        {parts.map((p, i) => (
          <li key={p.key}>
            {category(p, `part ${i + 1}`, (to) => change(p.key, { category: to }))}
            <Entry
              label={`Amount of part ${i + 1}`}
              inputMode="decimal"
              placeholder="0.00"
              value={p.amount}
              onChange={(e) => change(p.key, { amount: e.target.value })}
            />
            <Button
              kind="quiet"
              icon="x"
              aria-label={`Drop part ${i + 1}`}
              disabled={parts.length < 2}
              onClick={() => setParts((all) => all.filter((x) => x.key !== p.key))}
            />
          </li>
        ))}
        <li>
          {category(last, "the rest", (to) => setLast((p) => ({ ...p, category: to })))}
          <output className={css.rest} aria-label="What is left">
            {left === null ? "–" : money(left, t.iso_currency_code)}
          </output>
        </li>
      </ol>
      <p className="small dim" role="status">
        {said}
      </p>
      <Button
        icon="plus"
        disabled={parts.length + 1 >= most}
        onClick={() => setParts((all) => [...all, blank(null, t.category)])}
      >
        Add a part
      </Button>
    </FormDialog>
  );
}
