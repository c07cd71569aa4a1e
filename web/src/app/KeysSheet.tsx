import { useQuery } from "@tanstack/react-query";
import { session } from "#/api/session";
import { overlay } from "#/lib/overlay";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import css from "./KeysSheet.module.css";
import { screensFor } from "./screens";

const sheet = (role: string | undefined): [string, [string, string][]][] => [
  [
    "Everywhere",
    [
      ["Ctrl K", "search or go to"],
      ...screensFor(role).map((s): [string, string] => [`G ${s.key.toUpperCase()}`, `to ${s.name}`]),
      ["Z", "undo your last change"],
      ["⇧ Z", "do it again"],
      [".", "hide or show amounts"],
      ["?", "this sheet"],
    ],
  ],
  [
    "Lists",
    [
      ["J K", "next, previous"],
      ["Enter", "open"],
      ["Esc", "close, or choose none"],
      ["/", "search"],
      ["[ ]", "month before, after"],
    ],
  ],
  [
    "Transactions",
    [
      ["X", "choose"],
      ["⇧ X", "choose up to here"],
      ["Ctrl A", "choose all that match"],
      ["C", "file under a category"],
      ["T", "tag"],
      ["P", "name the payee"],
      ["M", "comment"],
      ["Y", "see why it is filed so"],
      ["R", "make a rule from it"],
      ["V", "save the filters as a view"],
    ],
  ],
  [
    "Review",
    [
      ["A", "agree for the whole payee"],
      ["1 9", "file under what is offered"],
      ["C", "file the payee elsewhere"],
      ["R", "make a rule from it"],
      ["S", "leave for later"],
    ],
  ],
];

export function KeysSheet() {
  const open = overlay.use() === "keys";
  const role = useQuery(session).data?.user?.role;
  return (
    <Dialog
      open={open}
      onClose={() => overlay.set(null)}
      title="Keys"
      hint="They work wherever you are not typing."
      wide
      read
    >
      <DialogBody>
        <div className={css.sheet}>
          {sheet(role).map(([name, keys]) => (
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
