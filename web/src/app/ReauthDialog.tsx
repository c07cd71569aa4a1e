import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { myLogins } from "#/api/me";
import { passkeys, session, signIn, signInByPasskey } from "#/api/session";
import { saveDrafts } from "#/lib/drafts";
import { failure } from "#/parts/edit";
import { reauth } from "#/parts/reauth";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { Field } from "#/ui/Field";

/** Asks the person to sign in again before an action that could lock others out. Then the action runs. */
export function ReauthDialog() {
  const waiting = reauth.use();
  const client = useQueryClient();
  const { data } = useQuery(session);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const logins = useQuery({ ...myLogins, enabled: waiting }).data?.logins;
  // While the member's sign-in methods load, every method is offered.
  const has = (kind: "password" | "passkey") => !logins || logins.some((l) => l.kind === kind);
  const email = has("password") ? data?.user?.email : null;
  const me = data?.user?.id;
  const back = encodeURIComponent(location.pathname + location.search);
  const reauthenticate = async (way: () => Promise<unknown>) => {
    setFault("");
    setBusy(true);
    try {
      if ((await way()) === false) return;
      const now = await client.fetchQuery({ ...session, staleTime: 0 });
      // Someone signed in with another member's passkey. That member did not ask for this action.
      if (now.user?.id !== me) location.reload();
      else reauth.confirm();
    } catch (e) {
      setFault(e instanceof Error && e.message ? failure(e) : t`That didn’t work. Try again.`);
    } finally {
      setBusy(false);
    }
  };
  const submit = (e: SubmitEvent<HTMLFormElement>) => {
    e.preventDefault();
    const password = String(new FormData(e.currentTarget).get("password"));
    void reauthenticate(() => signIn(data?.user?.email ?? "", password));
  };
  const leave = () => {
    setFault("");
    reauth.cancel();
  };
  return (
    <Dialog
      open={waiting}
      onClose={leave}
      title={t`Confirm it’s you`}
      hint={t`For your security, sign in again to continue.`}
    >
      <form onSubmit={submit}>
        <DialogBody>
          {email && (
            <>
              <input hidden readOnly name="username" autoComplete="username" aria-label={t`Email`} value={email} />
              <Field
                label={t`Password for ${email}`}
                name="password"
                type="password"
                autoComplete="current-password"
                required
                fault={fault}
              />
            </>
          )}
          <div className="row wrap">
            {passkeys() && has("passkey") && (
              <Button icon="key" disabled={busy} onClick={() => void reauthenticate(signInByPasskey)}>
                <Trans>Use a passkey</Trans>
              </Button>
            )}
            <a className="link" href={`/login?again=1&next=${back}`} onClick={() => saveDrafts()}>
              <Trans>Other sign-in options</Trans>
            </a>
          </div>
        </DialogBody>
        <DialogFoot>
          <Button kind="quiet" onClick={leave}>
            <Trans>Cancel</Trans>
          </Button>
          {email && (
            <Button kind="filled" type="submit" disabled={busy}>
              <Trans>Sign in</Trans>
            </Button>
          )}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
