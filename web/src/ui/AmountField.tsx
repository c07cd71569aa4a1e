import { t } from "@lingui/core/macro";
import type { ComponentProps } from "react";
import type { Cents } from "#/lib/money";
import { typed, written } from "#/lib/typed";
import { Field } from "./Field";

/** Rewrites the text of a field as the app understood the amount. */
export const settle = (field: HTMLInputElement) => {
  const n = typed(field.value);
  if (n !== null) field.value = written(n);
};

type AmountProps = Omit<ComponentProps<typeof Field>, "defaultValue" | "placeholder"> & {
  amount?: Cents | null;
  example?: Cents;
  /** Whether the browser checks the amount and shows the error. Otherwise the form must do so. */
  checked?: boolean;
};

/** A field for an amount. When the focus leaves it, it shows how the app understood the amount. */
export const AmountField = ({ amount, example, checked, ...rest }: AmountProps) => (
  <Field
    inputMode="decimal"
    autoComplete="off"
    placeholder={example === undefined ? undefined : written(example)}
    defaultValue={amount === undefined || amount === null ? "" : written(amount)}
    onBlur={(e) => settle(e.currentTarget)}
    onInput={(e) => {
      if (!checked) return;
      const { value } = e.currentTarget;
      const fine = value.trim() === "" || typed(value) !== null;
      e.currentTarget.setCustomValidity(fine ? "" : t`Enter an amount, for example 12.50.`);
    }}
    {...rest}
  />
);
