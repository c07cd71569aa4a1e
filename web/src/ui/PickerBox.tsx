import { Combobox } from "@base-ui/react/combobox";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { Tile } from "./Chip";
import { fits, ranked } from "./choices";
import { Icon } from "./Icon";
import type { Choice, PickerAtProps, PickerButtonProps } from "./Picker";
import css from "./Picker.module.css";

function Popup({ label, anchor }: { label: string; anchor?: Element | null }) {
  return (
    <Combobox.Portal>
      <Combobox.Positioner className={css.place} anchor={anchor ?? undefined} sideOffset={4} align="start">
        <Combobox.Popup className={css.popup} aria-label={label}>
          <Combobox.Input className={css.search} placeholder={label} aria-label={label} />
          <Combobox.Empty className={css.empty}>
            <Trans>No matches</Trans>
          </Combobox.Empty>
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

/** The popup of PickerAt. */
export function BoxAt(p: PickerAtProps) {
  const [typed, type] = useState("");
  const words = typed.trim();
  const canCreate = p.onMake && words && p.choices.every((c) => c.label.toLowerCase() !== words.toLowerCase());
  const making: Choice[] = canCreate ? [{ value: "", label: t`Create “${words}”` }] : [];
  return (
    <Combobox.Root
      items={ranked([...p.choices, ...making], typed)}
      value={null}
      open={p.anchor !== null}
      autoHighlight
      filter={fits}
      inputValue={typed}
      onInputValueChange={type}
      onOpenChange={(open) => {
        type("");
        if (!open) p.onClose();
      }}
      onValueChange={(c) => {
        const picked = c as Choice | null;
        type("");
        if (picked?.value) p.onPick(picked);
        else if (picked) p.onMake?.(words);
      }}
    >
      <Popup label={p.label} anchor={p.anchor} />
    </Combobox.Root>
  );
}

/** The picker of PickerButton. `early` means that the button was pressed before this file had loaded. */
export function BoxButton(p: PickerButtonProps & { early: boolean }) {
  const picked = p.choices.find((c) => c.value === p.value) ?? null;
  const [typed, type] = useState("");
  return (
    <span className={`${css.filter} ${picked || p.on ? css.on : ""}`}>
      <Combobox.Root
        items={ranked(p.choices, typed)}
        value={picked}
        defaultOpen={p.early}
        autoHighlight
        filter={fits}
        onInputValueChange={type}
        onOpenChange={(open) => open && p.onOpen?.()}
        onValueChange={(c) => c && p.onPick(c as Choice)}
      >
        <Combobox.Trigger className={css.trigger} aria-label={p.label}>
          <span className="cut">{picked?.label ?? p.children}</span>
          {!picked && <Icon name="down" small />}
        </Combobox.Trigger>
        <Popup label={p.label} />
      </Combobox.Root>
      {picked && (
        <button
          type="button"
          className={css.clear}
          aria-label={t`Clear ${{ choice: picked.label }}`}
          onClick={p.onClear}
        >
          <Icon name="x" small />
        </button>
      )}
    </span>
  );
}
