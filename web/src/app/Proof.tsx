import { useQuery } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { session, signIn } from "#/api/session";
import { sentence } from "#/parts/edit";
import { proof } from "#/parts/proof";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { Field } from "#/ui/Field";

/** Asks who is there before something that could lock others out, and then does it. */
export function Proof() {
  const waiting = proof.use();
  const { data } = useQuery(session);
  const [fault, setFault] = useState("");
  const email = data?.user?.email;
  const back = encodeURIComponent(location.pathname + location.search);
  const submit = async (e: SubmitEvent<HTMLFormElement>) => {
    e.preventDefault();
    setFault("");
    try {
      await signIn(email ?? "", String(new FormData(e.currentTarget).get("password")));
      proof.given();
    } catch (e) {
      setFault(e instanceof Error ? sentence(e.message) : "That did not work.");
    }
  };
  return (
    <Dialog
      open={waiting}
      onClose={proof.refused}
      title="Sign in again to go on"
      hint="You signed in a while ago. This makes sure that it is still you; then it is done at once."
    >
      <form onSubmit={submit}>
        <DialogBody>
          {email && (
            <Field
              label={`Password of ${email}`}
              name="password"
              type="password"
              autoComplete="current-password"
              fault={fault}
            />
          )}
          <a className="link" href={`/login?again=1&next=${back}`}>
            Use a passkey or another way
          </a>
        </DialogBody>
        <DialogFoot>
          <Button kind="quiet" onClick={proof.refused}>
            Cancel
          </Button>
          {email && (
            <Button kind="filled" type="submit">
              Sign in
            </Button>
          )}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
