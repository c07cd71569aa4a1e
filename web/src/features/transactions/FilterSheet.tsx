import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { transactions } from "#/lib/words";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { FilterChip } from "#/ui/Picker";
import type { controls } from "./Controls";
import type { Chip } from "./chips";
import css from "./TransactionsPage.module.css";

type Props = {
  rows: ReturnType<typeof controls>;
  chips: Chip[];
  count: number;
  onRemove: (c: Chip) => void;
  onClear: () => void;
  onClose: () => void;
};

/** All filters in one column, for phones. */
export function FilterSheet({ rows, chips, count, onRemove, onClear, onClose }: Props) {
  return (
    <Dialog open read onClose={onClose} title={t`Filters`}>
      <DialogBody>
        <ul className={css.sheet}>
          {rows.map((r) => (
            <li key={r.name}>
              {r.control}
              {chips
                .filter((c) => c.kind === r.name)
                .map((c) => (
                  <FilterChip
                    key={c.key}
                    label={t`Remove filter ${{ kind: c.kind }} ${{ value: c.label }}`}
                    onRemove={() => onRemove(c)}
                  >
                    {c.label}
                  </FilterChip>
                ))}
            </li>
          ))}
        </ul>
      </DialogBody>
      <DialogFoot>
        {chips.length > 0 && (
          <Button kind="quiet" onClick={onClear}>
            <Trans>Clear filters</Trans>
          </Button>
        )}
        <Button kind="filled" onClick={onClose}>
          {t`Show ${{ transactions: transactions(count) }}`}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
