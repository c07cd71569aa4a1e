import { type ComponentProps, type ReactNode, useCallback, useEffect, useState } from "react";
import type { Look } from "#/lib/tones";
import { Icon } from "./Icon";
import css from "./Picker.module.css";

export type Choice = { value: string; label: string; hint?: string; look?: Look };

type Common = { label: string; choices: Choice[]; onPick: (c: Choice) => void };
export type PickerAtProps = Common & {
  anchor: Element | null;
  onClose: () => void;
  onMake?: (typed: string) => void;
};
export type PickerButtonProps = Common & {
  value?: string | undefined;
  onClear?: () => void;
  /** Whether something is picked that another part of the screen shows. */
  on?: boolean;
  onOpen?: () => void;
  children: ReactNode;
};

type Boxes = typeof import("./PickerBox");
let here: Boxes | null = null;

/** Runs a function when the browser is idle. */
function whenIdle(f: () => void): () => void {
  if (!("requestIdleCallback" in window)) {
    const t = setTimeout(f, 1000);
    return () => clearTimeout(t);
  }
  const t = requestIdleCallback(f, { timeout: 3000 });
  return () => cancelIdleCallback(t);
}

/**
 * The popups of pickers are a seventh of a screen's script. So they are loaded after the screen is drawn, or when
 * someone opens a picker. If loading fails, nothing opens, and the next press tries again.
 */
function useBoxes(wanted: boolean, onMissing?: () => void): Boxes | null {
  const [boxes, set] = useState(here);
  useEffect(() => {
    if (boxes) return;
    const load = () =>
      void import("./PickerBox").then(
        (m) => {
          here = m;
          set(m);
        },
        () => wanted && onMissing?.(),
      );
    if (wanted) return load();
    return whenIdle(load);
  }, [boxes, wanted, onMissing]);
  return boxes;
}

/**
 * One picker for a whole list, opened at the row that asks for it. With `onMake`, the typed text can become a new
 * choice.
 */
export function PickerAt(p: PickerAtProps) {
  const isOpen = p.anchor !== null;
  const boxes = useBoxes(isOpen);
  const [used, use] = useState(false); // nothing is drawn until a row asks for the picker
  if (isOpen && !used) use(true);
  return boxes && used && <boxes.BoxAt {...p} />;
}

/** A filter that opens a picker and shows the picked value. */
export function PickerButton(p: PickerButtonProps) {
  const [early, setEarly] = useState(false);
  const later = useCallback(() => setEarly(false), []);
  const boxes = useBoxes(early, later);
  if (boxes) return <boxes.BoxButton {...p} early={early} />;
  const picked = p.choices.find((c) => c.value === p.value);
  return (
    <span className={`${css.filter} ${picked || p.on ? css.on : ""}`}>
      <button
        type="button"
        className={css.trigger}
        aria-label={p.label}
        onClick={() => {
          p.onOpen?.();
          setEarly(true);
        }}
      >
        <span className="cut">{picked?.label ?? p.children}</span>
        <Icon name={picked ? "x" : "down"} small />
      </button>
    </span>
  );
}

/** A filter that opens something other than a picker. */
export const FilterButton = ({ on, children, ...rest }: { on?: boolean } & ComponentProps<"button">) => (
  <button type="button" className={`${css.filter} ${css.trigger} ${on ? css.on : ""}`} {...rest}>
    <span className="cut">{children}</span>
    <Icon name="down" small />
  </button>
);

/** A filter that is set, with its kind before it. Pressing it removes the filter. */
export const FilterChip = (p: { kind?: string; label: string; children: string; onRemove: () => void }) => (
  <button type="button" className={css.chip} aria-label={p.label} title={p.label} onClick={p.onRemove}>
    {p.kind && <span className={css.kind}>{p.kind}</span>} <bdi className="cut">{p.children}</bdi>
    <Icon name="x" small />
  </button>
);

/** A filter that is on or off. */
export function Toggle(p: { on: boolean; onChange: (on: boolean) => void; children: ReactNode }) {
  return (
    <button
      type="button"
      className={`${css.filter} ${css.trigger} ${p.on ? css.on : ""}`}
      aria-pressed={p.on}
      onClick={() => p.onChange(!p.on)}
    >
      {p.children}
      {p.on && <Icon name="x" small />}
    </button>
  );
}
