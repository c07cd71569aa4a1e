import { t } from "@lingui/core/macro";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { Page } from "#/ui/Page";
import { Limits } from "./Limits";

/** The limits on what all agents together may do and cost. */
export function LimitsPage() {
  const { admin } = useCan();
  return (
    <>
      <PageHeader title={t`AI agents`} />
      <Page>
        <LookOnly admin />
        <Limits admin={admin} />
      </Page>
    </>
  );
}
