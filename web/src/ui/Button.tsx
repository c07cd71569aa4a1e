import type { ComponentProps } from "react";
import css from "./Button.module.css";
import { Icon } from "./Icon";
import type { IconName } from "./icons";

type Look = { kind?: "plain" | "filled" | "quiet" | "fault"; icon?: IconName; keyed?: string };

const classes = ({ kind = "plain" }: Look, bare: boolean) =>
  [css.button, css[kind], bare ? css.bare : ""].filter(Boolean).join(" ");

/** A button. A view has at most one filled button. The label is a verb with an object or a count. */
export function Button({ kind, icon, keyed, children, className, ...rest }: Look & ComponentProps<"button">) {
  return (
    <button type="button" className={`${classes({ kind }, !children)} ${className ?? ""}`} {...rest}>
      {icon && <Icon name={icon} small={!!children} />}
      {children}
      {keyed && <kbd aria-hidden="true">{keyed}</kbd>}
    </button>
  );
}

/** A choice between a few views of the same data. */
export function Segments<T extends string>(p: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (v: T) => void;
}) {
  return (
    <fieldset className={css.segments} aria-label={p.label}>
      {p.options.map(([v, name]) => (
        <button key={v} type="button" aria-pressed={v === p.value} onClick={() => p.onChange(v)}>
          {name}
        </button>
      ))}
    </fieldset>
  );
}
