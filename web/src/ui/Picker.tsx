import { Combobox } from "@base-ui/react/combobox";
import type { ReactNode } from "react";
import type { Look } from "#/lib/tones";
import { Tile } from "./Chip";
import { Icon } from "./Icon";
import css from "./Picker.module.css";

export type Choice = { value: string; label: string; hint?: string; look?: Look };

type Common = { label: string; choices: Choice[]; onPick: (c: Choice) => void };

function Popup({ label, anchor }: { label: string; anchor?: Element | null }) {
  return (
    <Combobox.Portal>
      <Combobox.Positioner className={css.place} anchor={anchor ?? undefined} sideOffset={4} align="start">
        <Combobox.Popup className={css.popup} aria-label={label}>
          <Combobox.Input className={css.search} placeholder={label} aria-label={label} />
          <Combobox.Empty className={css.empty}>Nothing by that name</Combobox.Empty>
          <Combobox.List className={css.list} aria-label={label}>
            {(c: Choice) => (
              <Combobox.Item key={c.value} value={c} className={css.item}>
                {c.look && <Tile tone={c.look.tone} icon={c.look.icon} />}
                <span className="cut">{c.label}</span>
                {c.hint && <span className={`cut ${css.hint}`}>{c.hint}</span>}
              </Combobox.Item>
            )}
          </Combobox.List>
        </Combobox.Popup>
      </Combobox.Positioner>
    </Combobox.Portal>
  );
}

/** One picker for a whole list, at whichever row asks for it. */
export function PickerAt(p: Common & { anchor: Element | null; onClose: () => void }) {
  return (
    <Combobox.Root
      items={p.choices}
      value={null}
      open={p.anchor !== null}
      autoHighlight
      onOpenChange={(open) => !open && p.onClose()}
      onValueChange={(c) => c && p.onPick(c as Choice)}
    >
      <Popup label={p.label} anchor={p.anchor} />
    </Combobox.Root>
  );
}

/** A filter that opens a picker, and says what is picked. */
export function PickerButton(p: Common & { value: string | undefined; onClear: () => void; children: ReactNode }) {
  const picked = p.choices.find((c) => c.value === p.value) ?? null;
  return (
    <span className={`${css.filter} ${picked ? css.on : ""}`}>
      <Combobox.Root items={p.choices} value={picked} autoHighlight onValueChange={(c) => c && p.onPick(c as Choice)}>
        <Combobox.Trigger className={css.trigger} aria-label={p.label}>
          <span className="cut">{picked?.label ?? p.children}</span>
          {!picked && <Icon name="down" small />}
        </Combobox.Trigger>
        <Popup label={p.label} />
      </Combobox.Root>
      {picked && (
        <button type="button" className={css.clear} aria-label={`Without ${picked.label}`} onClick={p.onClear}>
          <Icon name="x" small />
        </button>
      )}
    </span>
  );
}

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
