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
import { payments } from "#/lib/words";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { recordHint } from "#/parts/record";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Field } from "#/ui/Field";
import { Progress } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { Seal } from "#/ui/Seal";
import { type Agent, lastUsed, weekOf } from "./agents";

const week = 6 * 86_400_000;

/** One agent: what it may do, what it did today and this week, and its end. */
export function AgentCard({ agent, admin }: { agent: Agent; admin: boolean }) {
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const now = useQuery({ ...didSince(agent.id, today), enabled: agent.writes });
  const lately = useQuery({
    ...didSince(agent.id, localDay(new Date(Date.parse(`${today}T12:00:00`) - week))),
    enabled: agent.writes,
  });
  const me = useQuery(session).data?.user?.id;
  const mine = agent.owner !== null && agent.owner === me;
  const [asks, ask] = useState<"end" | "narrow" | null>(null);
  const done = now.data?.payments ?? 0;
  const told = agent.record ?? "…";
  const record = <span title={recordHint}>{`${told.charAt(0).toUpperCase()}${told.slice(1)}`}</span>;
  const facts: [string, React.ReactNode][] = [
    ["What", agent.told],
    ["Last used", lastUsed(agent.used, done, lately.data?.changes ?? 0)],
    ...(agent.until ? [["Ends", moment(agent.until)] as [string, string]] : []),
    ...(agent.writes
      ? ([
          ["Record", record],
          [
            "Today",
            agent.limit === null ? (
              `${payments(done)} changed`
            ) : (
              <>
                {done.toLocaleString("en")} of {agent.limit.toLocaleString("en")} payments
                <Progress label="Changed today" done={done} of={Math.max(agent.limit, 1)} />
              </>
            ),
          ],
          ["This week", lately.data ? weekOf(lately.data) : "…"],
        ] as [string, React.ReactNode][])
      : []),
  ];
  return (
    <Card
      title={
        <span className="row">
          <Seal maker={{ kind: "agent", name: agent.name }} large />
          <bdi title={agent.name}>{shortName(agent.name)}</bdi>
        </span>
      }
      aside={<Badge mood={agent.writes ? "held" : "plain"}>{agent.writes ? "Changes things" : "Only reads"}</Badge>}
      foot={
        <>
          {agent.writes && (
            <Link className="link" to="/activity" search={{ actor: agent.id }}>
              What it did, and undo
            </Link>
          )}
          {(admin || mine) && (
            <span className="row end">
              {admin && agent.kind === "key" && agent.writes && (
                <Button kind="quiet" onClick={() => ask("narrow")}>
                  Narrow
                </Button>
              )}
              <Button kind="quiet" onClick={() => ask("end")}>
                End
              </Button>
            </span>
          )}
        </>
      }
    >
      <Facts facts={facts} />
      {asks === "end" && <End agent={agent} mine={mine} onClose={() => ask(null)} />}
      {asks === "narrow" && <Narrow agent={agent} onClose={() => ask(null)} />}
    </Card>
  );
}

type Asked = { agent: Agent; onClose: () => void };

function End({ agent, mine, onClose }: Asked & { mine: boolean }) {
  const end = useDeed({
    act: (): Promise<unknown> => {
      if (!agent.owner) return revokeKey(agent.id);
      return mine ? endMyAssistant(agent.id) : endAssistant({ user_id: agent.owner, id: agent.id });
    },
    touches: ["keys", "users", "me"],
    said: `${shortName(agent.name)} is ended and let in no more`,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`End ${shortName(agent.name)}?`}
      hint="It is refused from its next request on. What it did stays until you undo it in Activity."
      act={`End ${shortName(agent.name)}`}
      fault
      busy={end.isPending}
      onSubmit={() => end.mutate(undefined, { onSettled: onClose })}
    />
  );
}

function Narrow({ agent, onClose }: Asked) {
  const save = useDeed({ act: changeKey, proof: true, touches: ["keys"], said: "Saved", quiet: true });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`What ${shortName(agent.name)} may change`}
      act="Save limit"
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) => save.mutate({ id: agent.id, max_writes_per_day: f.count("limit") }, { onSuccess: onClose })}
    >
      <Field
        label="Payments a day"
        name="limit"
        type="number"
        min={0}
        max={1_000_000}
        defaultValue={agent.limit ?? ""}
        hint="0 lets it only look. Empty takes the limit away; a new agent begins with 2,000."
      />
    </FormDialog>
  );
}
