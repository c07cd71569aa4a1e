import { Trans } from "@lingui/react/macro";
import type { ReactNode, SubmitEvent } from "react";
import { ApiError } from "#/api/client";
import { restoreDraft } from "#/lib/drafts";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { Note } from "#/ui/Form";
import { failure, sentence } from "./edit";
import { meaning } from "./refusals";

/** The values of a form, by the names of its fields. */
export type Filled = {
  text: (name: string) => string;
  /** The text of a field; null if the field is empty. */
  maybe: (name: string) => string | null;
  count: (name: string) => number | null;
  has: (name: string) => boolean;
};

export function filled(form: HTMLFormElement): Filled {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? "").trim();
  return {
    text,
    maybe: (name) => text(name) || null,
    count: (name) => (text(name) === "" ? null : Number(text(name))),
    has: (name) => data.has(name),
  };
}

/** The name of a field: the last part of its path in the request. */
const label = (field: string | undefined) => field?.split(".").at(-1)?.replaceAll("_", " ");

/** The server's errors for the fields of a form, in the server's words. */
export function Refused({ error }: { error: unknown }) {
  if (!error || (error instanceof ApiError && error.wantsReauth)) return null;
  const details = error instanceof ApiError ? error.details : [];
  const first = error instanceof ApiError && details.length ? meaning(error.code) : "";
  return (
    <Note mood="bad">
      <div>
        {first && <p>{first}</p>}
        {details.length
          ? details.map((d) => <p key={`${d.field} ${d.message}`}>{sentence(`${label(d.field)} ${d.message}`)}</p>)
          : failure(error)}
      </div>
    </Note>
  );
}

/** A dialog with fields. With a `draft` name, typed text is kept if the member must sign in again. */
export function FormDialog(p: {
  open: boolean;
  onClose: () => void;
  title: string;
  hint?: ReactNode;
  /** The label of the submit button: a verb with its object. */
  act: string;
  draft?: string;
  wide?: boolean;
  fault?: boolean;
  busy?: boolean;
  error?: unknown;
  onSubmit: (f: Filled) => void;
  foot?: ReactNode;
  children?: ReactNode;
}) {
  const submit = (e: SubmitEvent<HTMLFormElement>) => {
    e.preventDefault();
    p.onSubmit(filled(e.currentTarget));
  };
  return (
    <Dialog open={p.open} onClose={p.onClose} title={p.title} hint={p.hint} wide={p.wide}>
      <form onSubmit={submit} data-draft={p.draft} ref={restoreDraft}>
        <DialogBody>
          {p.children}
          <Refused error={p.error} />
        </DialogBody>
        <DialogFoot>
          {p.foot}
          <Button kind="quiet" onClick={p.onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button kind={p.fault ? "fault" : "filled"} type="submit" disabled={p.busy}>
            {p.act}
          </Button>
        </DialogFoot>
      </form>
    </Dialog>
  );
}
