import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { bankProviders, settable } from "#/api/providers";
import { models, providers, version } from "#/api/settings";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { ForAdmins, useCan } from "#/parts/rights";
import { Card, Skeleton } from "#/ui/Card";
import { Facts, Page } from "#/ui/Page";
import { Backups } from "./Backups";
import { HouseholdCard } from "./HouseholdCard";
import { ModelCard } from "./ModelCard";
import { Notifications } from "./Notifications";
import { ProviderCard } from "./ProviderCard";
import { Rates } from "./Rates";
import { TakeOut } from "./TakeOut";
import { Webhooks } from "./Webhooks";

/** A page of the settings for admins only. */
const Part = ({ children }: { children: ReactNode }) => (
  <>
    <PageHeader title={t`Settings`} />
    <ForAdmins>
      <Page>{children}</Page>
    </ForAdmins>
  </>
);

/** The household's settings. Members who are not admins are redirected to the first page that they can see. */
export function GeneralPage() {
  const can = useCan();
  const go = useNavigate();
  const elsewhere = can.known && !can.admin;
  useEffect(() => {
    if (elsewhere) void go({ to: "/settings/members", search: {}, replace: true });
  }, [elsewhere, go]);
  if (elsewhere) return null;
  return (
    <Part>
      <HouseholdCard />
    </Part>
  );
}

export const ProvidersPage = () => (
  <Part>
    <Providers />
    <Webhooks />
  </Part>
);

export const ModelsPage = () => (
  <Part>
    <Models />
  </Part>
);

export const NotificationsPage = () => (
  <Part>
    <Notifications />
  </Part>
);

export const RatesPage = () => (
  <Part>
    <Rates />
  </Part>
);

export const ExportPage = () => (
  <Part>
    <TakeOut />
    <Backups />
  </Part>
);

/** The server's version. Everyone can see this page. */
export const AboutPage = () => (
  <>
    <PageHeader title={t`Settings`} />
    <Page>
      <About />
    </Page>
  </>
);

function Providers() {
  const list = useQuery(providers);
  const offers = useQuery(bankProviders);
  const error = list.error ?? offers.error;
  const again = () => void Promise.all([list.refetch(), offers.refetch()]);
  if (error) return <Fault error={error} what={t`bank providers`} retry={again} />;
  const settings = list.data;
  if (!settings || !offers.data) return <Wait />;
  return settable(offers.data).map((p) => <ProviderCard key={p.name} offer={p} provider={settings[p.name]} />);
}

function Models() {
  const list = useQuery(models);
  if (list.error) return <Fault error={list.error} what={t`AI models`} retry={() => void list.refetch()} />;
  return list.data ? <ModelCard models={list.data} /> : <Wait />;
}

const Wait = () => (
  <Card>
    <Skeleton rows={3} />
  </Card>
);

function About() {
  const { data } = useQuery(version);
  return (
    <Card
      title={t`About`}
      foot={
        <>
          <a className="link" href="/account">
            <Trans>Your account</Trans>
          </a>
          <a className="link" href="/docs">
            <Trans>API reference</Trans>
          </a>
        </>
      }
    >
      {data ? (
        <Facts
          facts={[
            [t`Version`, data.version],
            [t`API`, data.contract_version],
            [t`Address`, location.host],
          ]}
        />
      ) : (
        <Skeleton rows={2} />
      )}
    </Card>
  );
}
