import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { Note } from "#/ui/Form";
import { toasts } from "#/ui/toasts";

const copy = (text: string) =>
  navigator.clipboard.writeText(text).then(
    () => toasts.say({ text: t`Copied` }),
    () => toasts.say({ bad: true, text: t`Couldn’t copy. Select the text and copy it yourself.` }),
  );

/** Shows a secret, once. Only the dialog's own button closes it, so that nobody loses the secret by accident. */
export function SecretDialog(p: {
  open: boolean;
  title: string;
  /** The kind of secret, in one word. */
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
      hint={t`Copy this now. You won’t be able to see it again.`}
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
          <Trans>Done</Trans>
        </Button>
        <Button kind="filled" icon="copy" onClick={() => void copy(p.secret)}>
          <Trans>Copy {{ what: p.what }}</Trans>
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
