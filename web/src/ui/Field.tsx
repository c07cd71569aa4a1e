import { type ComponentProps, useId } from "react";
import css from "./Field.module.css";
import { Icon } from "./Icon";

/** A labeled field; its error is below it, in words. */
export function Field({
  label,
  fault,
  hint,
  ...rest
}: { label: string; fault?: string; hint?: string } & ComponentProps<"input">) {
  const id = useId();
  const below = fault || hint;
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={`${css.input} ${fault ? css.bad : ""}`}
        aria-invalid={!!fault}
        aria-describedby={below ? `${id}-below` : undefined}
        {...rest}
      />
      {below && (
        <span id={`${id}-below`} className={fault ? css.fault : css.hint} role={fault ? "alert" : undefined}>
          {fault && <Icon name="warn" small />}
          {below}
        </span>
      )}
    </div>
  );
}

/** A field for search terms. */
export function Search({ label, keyed, ...rest }: { label: string; keyed?: string } & ComponentProps<"input">) {
  return (
    <label className={css.search}>
      <Icon name="search" small />
      <span className="sr">{label}</span>
      <input type="search" placeholder={label} {...rest} />
      {keyed && <kbd aria-hidden="true">{keyed}</kbd>}
    </label>
  );
}
