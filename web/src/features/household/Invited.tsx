import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Invitation } from "#/api/people";
import { moment } from "#/lib/dates";
import { SecretDialog } from "#/parts/SecretDialog";
import { QR } from "#/ui/QR";

/** Whether an address points to the computer of the person who opens it. A phone cannot open such a link. */
export const onlyHere = (url: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);

/** An invitation link, shown once. It can be copied or scanned. */
export function Invited({ name, made, onDone }: { name: string; made: Invitation; onDone: () => void }) {
  return (
    <SecretDialog
      open
      title={t`Invitation for ${name}`}
      what={t`link`}
      secret={made.url}
      onDone={onDone}
      hint={
        <>
          <Trans>
            Share this link only with {name}: the first person to use it becomes {name}. It works once and expires{" "}
            {{ when: moment(made.expires_at) }}.
          </Trans>
          {onlyHere(made.url) ? (
            <>
              {" "}
              <Trans>
                <strong>The link opens only on the computer that coffer runs on.</strong> For phones and other
                computers, start coffer with <code className="mono">coffer serve --lan</code> or set{" "}
                <code className="mono">COFFER_PUBLIC_URL</code>, then create a new link.
              </Trans>
            </>
          ) : (
            made.qr && <QR rows={made.qr} label={t`QR code of the invitation link`} />
          )}
        </>
      }
    />
  );
}
