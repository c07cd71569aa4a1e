import { i18n } from "@lingui/core";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { type BankProvider, covers, remote } from "#/api/providers";
import { locale, region } from "#/lib/locale";
import { useCan } from "./rights";

/**
 * Says how to get bank connections when none is set up: admins get a link to the settings, others learn whom to ask. If
 * no provider reads banks in the region, it suggests imports.
 */
export function NoProvider({ all }: { all: readonly BankProvider[] }) {
  const can = useCan();
  if (!can.known) return null;
  const here = remote(all).filter((p) => covers(p, region));
  const either = new Intl.ListFormat(i18n.locale, { type: "disjunction" });
  const providers = either.format(here.map((p) => p.title));
  const country = new Intl.DisplayNames(locale, { type: "region" }).of(region) ?? region;
  return (
    <p className="small dim">
      {here.length === 0 ? (
        <Trans>
          coffer can’t connect to banks in {country}.{" "}
          <Link className="link" to="/import" search={{}}>
            Import statements
          </Link>{" "}
          instead.
        </Trans>
      ) : can.admin ? (
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
