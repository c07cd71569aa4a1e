import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { didSince } from "#/api/agents";
import { changeKey, revokeKey } from "#/api/keys";
import { endMyAssistant } from "#/api/me";
import { overview } from "#/api/overview";
import { endAssistant } from "#/api/people";
import { session } from "#/api/session";
import { localDay, moment } from "#/lib/dates";
import { shortName } from "#/lib/names";
import { transactions } from "#/lib/words";
import { FormDialog } from "#/parts/FormDialog";
import { recordHint } from "#/parts/record";
import { useAction } from "#/parts/useAction";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Field } from "#/ui/Field";
import { Facts } from "#/ui/Page";
import { type Agent, changes, weekOf } from "./agents";

const week = 6 * 86_400_000;

/** One agent: its permissions, its changes today and this week, and how to revoke its access. */
export function AgentCard({ agent, admin }: { agent: Agent; admin: boolean }) {
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const now = useQuery({ ...didSince(agent.id, today), enabled: agent.writes });
  const thisWeek = useQuery({
    ...didSince(agent.id, localDay(new Date(Date.parse(`${today}T12:00:00`) - week))),
    enabled: agent.writes,
  });
  const me = useQuery(session).data?.user?.id;
  const isOwn = agent.owner !== null && agent.owner === me;
  const [asks, ask] = useState<"end" | "narrow" | null>(null);
  const done = now.data?.payments ?? 0;
  const recordText = agent.record ?? "…";
  const record = <span title={recordHint()}>{`${recordText.charAt(0).toUpperCase()}${recordText.slice(1)}`}</span>;
  const facts: [string, React.ReactNode][] = [
    [t`Type`, agent.description],
    [t`Last used`, agent.used ? moment(agent.used) : t`Never`],
    ...(agent.until ? [[t`Expires`, moment(agent.until)] as [string, string]] : []),
    ...(agent.writes
      ? ([
          [t`Track record`, record],
          [t`Changed today`, transactions(done)],
          [t`Daily limit`, agent.limit === null ? t({ message: "None", context: "a limit" }) : changes(agent.limit)],
          [t`This week`, thisWeek.data ? weekOf(thisWeek.data) : "…"],
        ] as [string, React.ReactNode][])
      : []),
  ];
  return (
    <Card
      title={
        <span className="row">
          <AuthorBadge author={{ kind: "agent", name: agent.name }} large />
          <bdi title={agent.name}>{shortName(agent.name)}</bdi>
        </span>
      }
      aside={<Badge mood={agent.writes ? "held" : "plain"}>{agent.writes ? t`Can edit` : t`View only`}</Badge>}
      foot={
        <>
          {agent.writes && (
            <Link className="link" to="/activity" search={{ actor: agent.id }}>
              <Trans>View activity</Trans>
            </Link>
          )}
          {(admin || isOwn) && (
            <span className="row end">
              {admin && agent.kind === "key" && agent.writes && (
                <Button kind="quiet" onClick={() => ask("narrow")}>
                  <Trans>Set limit</Trans>
                </Button>
              )}
              <Button kind="quiet" onClick={() => ask("end")}>
                <Trans>Revoke access</Trans>
              </Button>
            </span>
          )}
        </>
      }
    >
      <Facts facts={facts} />
      {asks === "end" && <End agent={agent} isOwn={isOwn} onClose={() => ask(null)} />}
      {asks === "narrow" && <Narrow agent={agent} onClose={() => ask(null)} />}
    </Card>
  );
}

type Asked = { agent: Agent; onClose: () => void };

function End({ agent, isOwn, onClose }: Asked & { isOwn: boolean }) {
  const end = useAction({
    act: (): Promise<unknown> => {
      if (!agent.owner) return revokeKey(agent.id);
      return isOwn ? endMyAssistant(agent.id) : endAssistant({ user_id: agent.owner, id: agent.id });
    },
    touches: ["keys", "users", "me"],
    text: t`Access revoked for ${{ name: shortName(agent.name) }}`,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Revoke access for ${{ name: shortName(agent.name) }}?`}
      hint={t`It loses access immediately. Its past changes are kept; you can undo them in Activity.`}
      act={t`Revoke access`}
      fault
      busy={end.isPending}
      onSubmit={() => end.mutate(undefined, { onSettled: onClose })}
    />
  );
}

function Narrow({ agent, onClose }: Asked) {
  const save = useAction({ act: changeKey, reauth: true, touches: ["keys"], text: t`Saved`, quiet: true });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Daily limit for ${{ name: shortName(agent.name) }}`}
      act={t`Save`}
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) => save.mutate({ id: agent.id, max_writes_per_day: f.count("limit") }, { onSuccess: onClose })}
    >
      <Field
        label={t`Changes per day`}
        name="limit"
        type="number"
        min={0}
        max={1_000_000}
        defaultValue={agent.limit ?? ""}
        hint={t`Each transaction, tag, balance or other record counts as one change. 0 means view only. Leave blank for no limit. New agents start at 2,000.`}
      />
    </FormDialog>
  );
}
