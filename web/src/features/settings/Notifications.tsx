import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Endpoint, endpoints, type Notification, notifications, resend, testEndpoint } from "#/api/notifications";
import { moment } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { SecretDialog } from "#/parts/SecretDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Fold, Item, Lines } from "#/ui/Lines";
import { EndpointForm } from "./EndpointForm";
import { deliveryStatus, endpointHint, hostOf } from "./notificationWords";
import { When } from "./When";

const touches = ["notifications"];

/** The webhooks that receive notifications, and whether the latest messages arrived. */
export function Notifications() {
  const list = useQuery(endpoints);
  const [asks, ask] = useState<Endpoint | "new" | null>(null);
  const [secret, show] = useState<string | null>(null);
  const all = list.data?.endpoints ?? [];
  return (
    <Card
      title={t`Notifications`}
      flush
      foot={
        <>
          <Button icon="plus" onClick={() => ask("new")}>
            <Trans>Add webhook</Trans>
          </Button>
          {all.length > 0 && <When />}
        </>
      }
    >
      {list.error && <Fault error={list.error} what={t`webhooks`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={2} />}
      <Lines label={t`Notification webhooks`}>
        {list.data && all.length === 0 && (
          <Item
            name={t`No notifications set up`}
            hint={t`Send alerts to ntfy, Home Assistant or your own app, for example when a bank needs reconnecting or a report arrives.`}
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
      <SecretDialog
        open={secret !== null}
        title={t`Signing secret`}
        what={t`secret`}
        secret={secret ?? ""}
        hint={t`Add it to the receiver so it can verify messages from coffer. ntfy and Home Assistant don’t need it.`}
        onDone={() => show(null)}
      />
    </Card>
  );
}

function Line({ endpoint, onChange }: { endpoint: Endpoint; onChange: () => void }) {
  const test = useAction({
    act: testEndpoint,
    reauth: true,
    touches,
    text: (r) => (r.delivered ? t`Test message delivered` : t`Test message failed: ${{ reason: r.error ?? "" }}`),
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
              aria-label={t`Test ${name}`}
            >
              {test.isPending ? t`Testing…` : t`Test`}
            </Button>
          )}
          <Button icon="edit" onClick={onChange} aria-label={t`Edit ${name}`}>
            <Trans>Edit</Trans>
          </Button>
        </>
      }
    />
  );
}

/** The latest notifications, each with its delivery status. */
function Last() {
  const list = useQuery(notifications);
  const rows = list.data?.notifications ?? [];
  return (
    <Fold name={t`Recent messages`}>
      {list.error && <Fault error={list.error} what={t`recent messages`} retry={() => void list.refetch()} />}
      <Lines label={t`Recent messages`}>
        {list.data && rows.length === 0 && (
          <Item name={t`No messages yet`} hint={t`Sent messages and their delivery status appear here.`} />
        )}
        {rows.map((n) => (
          <Message key={n.id} notification={n} />
        ))}
      </Lines>
    </Fold>
  );
}

function Message({ notification: n }: { notification: Notification }) {
  const again = useAction({ act: resend, reauth: true, touches, text: t`Resending` });
  const how = deliveryStatus(n);
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
              aria-label={t`Resend: ${{ message: n.message }}`}
            >
              <Trans>Resend</Trans>
            </Button>
          )}
        </>
      }
    />
  );
}
