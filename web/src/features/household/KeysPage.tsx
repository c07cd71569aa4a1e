import { t } from "@lingui/core/macro";
import { PageHeader } from "#/parts/PageHeader";
import { ForAdmins } from "#/parts/rights";
import { Page } from "#/ui/Page";
import { Keys } from "./Keys";

/** The API keys of the household. */
export function KeysPage() {
  return (
    <>
      <PageHeader title={t`Settings`} />
      <ForAdmins>
        <Page>
          <Keys />
        </Page>
      </ForAdmins>
    </>
  );
}
