import { t } from "@lingui/core/macro";
import type { ComponentProps } from "react";
import type { Cents } from "#/lib/money";
import { typed, written } from "#/lib/typed";
import { Field } from "./Field";

/** Writes an amount in a field as it was understood. */
export const settle = (field: HTMLInputElement) => {
  const n = typed(field.value);
  if (n !== null) field.value = written(n);
};

type AmountProps = Omit<ComponentProps<typeof Field>, "defaultValue" | "placeholder"> & {
  amount?: Cents | null;
  example?: Cents;
  /** Whether the browser says what is wrong with it; without it the form does. */
  checked?: boolean;
};

/** A field for an amount. Once one leaves it, it shows how the amount was understood. */
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
