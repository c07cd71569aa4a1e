import { useQuery } from "@tanstack/react-query";
import { models, providers, version } from "#/api/settings";
import { Fault } from "#/parts/Fault";
import { ForAdmins } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Bones, Card } from "#/ui/Card";
import { Facts, Page } from "#/ui/Page";
import { HouseholdCard } from "./HouseholdCard";
import { ModelCard } from "./ModelCard";
import { Notifications } from "./Notifications";
import { ProviderCard } from "./ProviderCard";
import { Rates } from "./Rates";
import { TakeOut } from "./TakeOut";
import { Webhooks } from "./Webhooks";

/** How the household is set up: its name and money, where banks and models are asked, and the way out. */
export function SettingsPage() {
  return (
    <>
      <Top title="Settings" />
      <ForAdmins>
        <Page
          aside={
            <>
              <TakeOut />
              <About />
            </>
          }
        >
          <HouseholdCard />
          <Notifications />
          <Rates />
          <Providers />
          <Models />
          <Webhooks />
        </Page>
      </ForAdmins>
    </>
  );
}

function Providers() {
  const list = useQuery(providers);
  if (list.error) return <Fault error={list.error} what="The bank services" retry={() => void list.refetch()} />;
  if (!list.data) return <Wait />;
  return (
    <>
      <ProviderCard name="plaid" provider={list.data.plaid} />
      <ProviderCard name="teller" provider={list.data.teller} />
    </>
  );
}

function Models() {
  const list = useQuery(models);
  if (list.error) return <Fault error={list.error} what="The models" retry={() => void list.refetch()} />;
  return list.data ? <ModelCard models={list.data} /> : <Wait />;
}

const Wait = () => (
  <Card>
    <Bones rows={3} />
  </Card>
);

function About() {
  const { data } = useQuery(version);
  return (
    <Card
      title="This server"
      foot={
        <>
          <a className="link" href="/account">
            Your account
          </a>
          <a className="link" href="/docs">
            The API
          </a>
        </>
      }
    >
      {data ? (
        <Facts
          facts={[
            ["Version", data.version],
            ["API", data.contract_version],
            ["Address", location.host],
          ]}
        />
      ) : (
        <Bones rows={2} />
      )}
    </Card>
  );
}
