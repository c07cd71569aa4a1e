import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { overlay } from "#/lib/overlay";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import css from "./KeysSheet.module.css";
import { entries } from "./navigation";

const sheet = (): [string, [string, string][]][] => [
  [
    t`Global`,
    [
      ["Ctrl K", t`Search`],
      ...entries.map((s): [string, string] => [`G ${s.key.toUpperCase()}`, t`Go to ${{ page: i18n._(s.name) }}`]),
      ["Z", t`Undo your last change`],
      ["⇧ Z", t`Redo`],
      [".", t`Hide or show amounts`],
      ["?", t`Show shortcuts`],
    ],
  ],
  [
    t`Lists`,
    [
      ["J K", t`Next / previous`],
      ["Enter", t`Open`],
      ["Esc", t`Close or clear selection`],
      ["/", t`Search`],
      ["[ ]", t`Previous / next month`],
    ],
  ],
  [
    t`Transactions`,
    [
      ["X", t`Select`],
      ["⇧ X", t`Select range`],
      ["Ctrl A", t`Select all matching`],
      ["C", t`Change category`],
      ["T", t`Add tag`],
      ["P", t`Change payee`],
      ["M", t`Comment`],
      ["Y", t`See why it has this category`],
      ["R", t`Create rule`],
      ["V", t`Save view`],
    ],
  ],
  [
    t`Review`,
    [
      ["A", t`Approve payee`],
      ["1–9", t`Pick suggested category`],
      ["C", t`Choose another category`],
      ["R", t`Create rule`],
      ["S", t`Skip`],
    ],
  ],
];

export function KeysSheet() {
  const open = overlay.use() === "keys";
  return (
    <Dialog
      open={open}
      onClose={() => overlay.set(null)}
      title={t`Keyboard shortcuts`}
      hint={t`Available whenever you’re not typing.`}
      wide
      read
    >
      <DialogBody>
        <div className={css.sheet}>
          {sheet().map(([name, keys]) => (
            <section key={name}>
              <h3>{name}</h3>
              <dl>
                {keys.map(([k, does]) => (
                  <div key={k}>
                    <dt>
                      {k.split(" ").map((x) => (
                        <kbd key={x}>{x}</kbd>
                      ))}
                    </dt>
                    <dd>{does}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        </div>
      </DialogBody>
      <DialogFoot>
        <Button kind="filled" onClick={() => overlay.set(null)}>
          <Trans>Done</Trans>
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
