import { t } from "@lingui/core/macro";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Page } from "#/ui/Page";
import { Limits } from "./Limits";

/** What all agents together may do and cost. */
export function LimitsPage() {
  const { admin } = useCan();
  return (
    <>
      <Top title={t`AI agents`} />
      <Page>
        <LookOnly admin />
        <Limits admin={admin} />
      </Page>
    </>
  );
}
