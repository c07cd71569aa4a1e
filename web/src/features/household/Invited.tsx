import type { Invitation } from "#/api/people";
import { moment } from "#/lib/dates";
import { Once } from "#/parts/Once";
import { QR } from "#/ui/QR";

/** The link of an invitation, this once, to copy or to scan. */
export function Invited({ name, made, onDone }: { name: string; made: Invitation; onDone: () => void }) {
  return (
    <Once
      open
      title={`The invitation of ${name}`}
      what="link"
      secret={made.url}
      onDone={onDone}
      hint={
        <>
          Give it to {name} only: whoever opens it first sets how {name} signs in. It works once, until{" "}
          {moment(made.expires_at)}.
          {made.qr && <QR rows={made.qr} label="The link as a QR code, to scan with a phone" />}
        </>
      }
    />
  );
}
