import { overlay } from "#/lib/overlay";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import css from "./KeysSheet.module.css";
import { screens } from "./screens";

const sheet: [string, [string, string][]][] = [
  [
    "Everywhere",
    [
      ["Ctrl K", "search or go to"],
      ...screens.map((s): [string, string] => [`G ${s.key.toUpperCase()}`, `to ${s.name}`]),
      [".", "hide or show amounts"],
      ["?", "this sheet"],
    ],
  ],
  [
    "Lists",
    [
      ["J K", "next, previous"],
      ["Enter", "open"],
      ["Esc", "close"],
      ["/", "search"],
      ["X", "choose"],
      ["C", "file under a category"],
    ],
  ],
  [
    "Review",
    [
      ["A", "agree for the whole payee"],
      ["C", "file the payee elsewhere"],
      ["S", "leave for later"],
      ["Z", "undo"],
    ],
  ],
];

export function KeysSheet() {
  const open = overlay.use() === "keys";
  return (
    <Dialog
      open={open}
      onClose={() => overlay.set(null)}
      title="Keys"
      hint="They work wherever you are not typing."
      wide
    >
      <DialogBody>
        <div className={css.sheet}>
          {sheet.map(([name, keys]) => (
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
          Done
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
