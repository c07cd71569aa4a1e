import type { ReactNode } from "react";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { Note } from "#/ui/Form";
import { toasts } from "#/ui/toasts";
import { sorry } from "./edit";

const copy = (text: string) => navigator.clipboard.writeText(text).then(() => toasts.say({ text: "Copied" }), sorry);

/** A secret that is shown this once: only its own button closes it. */
export function Once(p: {
  open: boolean;
  title: string;
  /** What it is, in one word. */
  what: string;
  secret: string;
  hint?: ReactNode;
  onDone: () => void;
}) {
  return (
    <Dialog
      open={p.open}
      onClose={() => {}}
      title={p.title}
      hint="Copy it now. It is shown this once, and nobody can look it up later."
      wide
    >
      <DialogBody>
        <Note mood="good">
          <code className="mono">{p.secret}</code>
        </Note>
        {p.hint && <p className="dim">{p.hint}</p>}
      </DialogBody>
      <DialogFoot>
        <Button kind="quiet" onClick={p.onDone}>
          I have copied it
        </Button>
        <Button kind="filled" icon="copy" onClick={() => void copy(p.secret)}>
          Copy {p.what}
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
