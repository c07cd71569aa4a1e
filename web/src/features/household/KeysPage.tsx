import { t } from "@lingui/core/macro";
import { ForAdmins } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Page } from "#/ui/Page";
import { Keys } from "./Keys";

/** The API keys of the household. */
export function KeysPage() {
  return (
    <>
      <Top title={t`Settings`} />
      <ForAdmins>
        <Page>
          <Keys />
        </Page>
      </ForAdmins>
    </>
  );
}
