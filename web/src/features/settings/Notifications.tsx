import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Endpoint, endpoints, resend, type Told, testEndpoint, told } from "#/api/notifications";
import { moment } from "#/lib/dates";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { Once } from "#/parts/Once";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Fold, Item, Lines } from "#/ui/Lines";
import { EndpointForm } from "./EndpointForm";
import { endpointHint, fared, hostOf } from "./told";
import { When } from "./When";

const touches = ["notifications"];

/** Where the household is told what happened, and whether it arrived. */
export function Notifications() {
  const list = useQuery(endpoints);
  const [asks, ask] = useState<Endpoint | "new" | null>(null);
  const [secret, show] = useState<string | null>(null);
  const all = list.data?.endpoints ?? [];
  return (
    <Card
      title="Notifications"
      flush
      foot={
        <>
          <Button icon="plus" onClick={() => ask("new")}>
            Add an address
          </Button>
          {all.length > 0 && <When />}
        </>
      }
    >
      {list.error && <Fault error={list.error} what="The addresses" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={2} />}
      <Lines label="Addresses of notifications">
        {list.data && all.length === 0 && (
          <Item
            name="Nobody is told yet"
            hint="Add the address of ntfy, Home Assistant or a program of yours, and coffer posts a signed message to it when a bank needs a sign-in or a report arrives."
          />
        )}
        {all.map((e) => (
          <Line key={e.id} endpoint={e} onChange={() => ask(e)} />
        ))}
      </Lines>
      {all.length > 0 && <Last />}
      {asks && (
        <EndpointForm
          endpoint={asks === "new" ? null : asks}
          onClose={() => ask(null)}
          onSecret={(s) => {
            ask(null);
            show(s);
          }}
        />
      )}
      <Once
        open={secret !== null}
        title="The signing secret"
        what="secret"
        secret={secret ?? ""}
        hint="Give it to the receiver, so that it can tell coffer’s messages from others. ntfy and Home Assistant need none."
        onDone={() => show(null)}
      />
    </Card>
  );
}

function Line({ endpoint, onChange }: { endpoint: Endpoint; onChange: () => void }) {
  const test = useDeed({
    act: testEndpoint,
    proof: true,
    touches,
    said: (r) => (r.delivered ? "The test message arrived" : `It did not arrive: ${r.error}`),
  });
  const name = endpoint.description ?? hostOf(endpoint.url);
  return (
    <Item
      below
      name={<bdi>{name}</bdi>}
      hint={
        <>
          {endpoint.description && <bdi>{hostOf(endpoint.url)} · </bdi>}
          {endpointHint(endpoint)}
        </>
      }
      end={
        <>
          {endpoint.enabled && (
            <Button
              kind="quiet"
              disabled={test.isPending}
              onClick={() => test.mutate(endpoint.id)}
              aria-label={`Test ${name}`}
            >
              {test.isPending ? "Testing…" : "Test"}
            </Button>
          )}
          <Button icon="edit" onClick={onChange} aria-label={`Change ${name}`}>
            Change
          </Button>
        </>
      }
    />
  );
}

/** What was last told. */
function Last() {
  const list = useQuery(told);
  const rows = list.data?.notifications ?? [];
  return (
    <Fold name="Last messages">
      {list.error && <Fault error={list.error} what="The messages" retry={() => void list.refetch()} />}
      <Lines label="Last messages">
        {list.data && rows.length === 0 && (
          <Item name="Nothing has happened yet" hint="What is sent appears here, with whether it arrived." />
        )}
        {rows.map((n) => (
          <Message key={n.id} told={n} />
        ))}
      </Lines>
    </Fold>
  );
}

function Message({ told: n }: { told: Told }) {
  const again = useDeed({ act: resend, proof: true, touches, said: "It is sent again" });
  const how = fared(n);
  const failed = how.mood === "bad" && n.type !== "endpoint.test";
  return (
    <Item
      below={failed}
      name={n.message}
      hint={how.why ? `${moment(n.created_at)} · ${how.why}` : moment(n.created_at)}
      end={
        <>
          <Badge mood={how.mood}>{how.word}</Badge>
          {failed && (
            <Button
              kind="quiet"
              disabled={again.isPending}
              onClick={() => again.mutate(n.id)}
              aria-label={`Send again: ${n.message}`}
            >
              Send again
            </Button>
          )}
        </>
      }
    />
  );
}
