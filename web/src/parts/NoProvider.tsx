import { i18n } from "@lingui/core";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { type BankProvider, remote } from "#/api/providers";
import { useCan } from "./rights";

/** Says that banks can be connected once a provider is set up: to admins where, to others by whom. */
export function NoProvider({ all }: { all: readonly BankProvider[] }) {
  const can = useCan();
  if (!can.known) return null;
  const either = new Intl.ListFormat(i18n.locale, { type: "disjunction" });
  const providers = either.format(remote(all).map((p) => p.title));
  return (
    <p className="small dim">
      {can.admin ? (
        <Trans>
          To connect a bank, first{" "}
          <Link className="link" to="/settings/providers" search={{}}>
            set up {providers}
          </Link>
          .
        </Trans>
      ) : (
        <Trans>To connect a bank, an admin needs to set up {providers} in Settings.</Trans>
      )}
    </p>
  );
}
