import { type ComponentProps, type ReactNode, useId } from "react";
import field from "./Field.module.css";
import css from "./Form.module.css";

type Labelled = { label: string; hint?: ReactNode };

/** A choice between named values. */
export function Select({
  label,
  hint,
  options,
  ...rest
}: Labelled & { options: readonly (readonly [string, string])[] } & ComponentProps<"select">) {
  const id = useId();
  return (
    <div className={field.field}>
      <label htmlFor={id}>{label}</label>
      <select id={id} className={field.input} aria-describedby={hint ? `${id}-below` : undefined} {...rest}>
        {options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      {hint && (
        <span id={`${id}-below`} className={field.hint}>
          {hint}
        </span>
      )}
    </div>
  );
}

type Options = readonly (readonly [string, string])[];

/** A choice without a visible label, for places where the text around it explains it. */
export function Choose({
  label,
  options,
  groups,
  ...rest
}: { label: string; options?: Options; groups?: readonly (readonly [string, Options])[] } & ComponentProps<"select">) {
  const all = (list: Options) =>
    list.map(([value, name]) => (
      <option key={value} value={value}>
        {name}
      </option>
    ));
  return (
    <select className={`${field.input} ${css.slim}`} aria-label={label} {...rest}>
      {options && all(options)}
      {groups?.map(([name, list]) => (
        <optgroup key={name} label={name}>
          {all(list)}
        </optgroup>
      ))}
    </select>
  );
}

/** An input field without a visible label, for places where the text around it explains it. */
export const Entry = ({ label, ...rest }: { label: string } & ComponentProps<"input">) => (
  <input className={`${field.input} ${css.slim}`} aria-label={label} autoComplete="off" {...rest} />
);

/** A field for several lines of text. */
export function Area({ label, hint, ...rest }: Labelled & ComponentProps<"textarea">) {
  const id = useId();
  return (
    <div className={field.field}>
      <label htmlFor={id}>{label}</label>
      <textarea id={id} className={`${field.input} ${css.area}`} rows={4} {...rest} />
      {hint && <span className={field.hint}>{hint}</span>}
    </div>
  );
}

/** A checkbox with its label. */
export function Check({ label, hint, ...rest }: Labelled & ComponentProps<"input">) {
  return (
    <label className={css.check}>
      <input type="checkbox" {...rest} />
      <span>
        {label}
        {hint && <span className={field.hint}>{hint}</span>}
      </span>
    </label>
  );
}

/** The fields of a form: one below the other, or side by side if there is room. */
export const Fields = ({ wide, children }: { wide?: boolean; children: ReactNode }) => (
  <div className={wide ? css.wide : css.fields}>{children}</div>
);

/** A progress bar. Without `of`, it only shows that something goes on. */
export function Progress({ label, done, of }: { label: string; done: number; of?: number | null }) {
  return (
    <progress className={css.progress} aria-label={label} {...(of ? { value: Math.min(done, of), max: of } : {})} />
  );
}

/** A strip of text about the content below it. */
export function Note({ mood = "info", children }: { mood?: "info" | "warn" | "bad" | "good"; children: ReactNode }) {
  return (
    <div className={`${css.note} ${css[mood]}`} role={mood === "bad" ? "alert" : "note"}>
      {children}
    </div>
  );
}
