import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { live, turnWorkflow, type Workflow } from "#/api/workflows";
import { moment } from "#/lib/dates";
import { recordHint } from "#/parts/record";
import { useAction } from "#/parts/useAction";
import { Cost } from "#/ui/Amount";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Badge } from "#/ui/Chip";
import { Item } from "#/ui/Lines";
import { moodOf, nextOf, planOf, recordOf, statusOf } from "./words";

/** Turns a workflow on or off. While it is on, it starts by itself. */
export function useTurn(w: Workflow) {
  return useAction({
    act: (on: boolean) => turnWorkflow(w.slug, on),
    touches: ["workflows"],
    text: (_, on) => (on ? t`“${{ name: w.name }}” turned on` : t`“${{ name: w.name }}” turned off`),
  });
}

/** One workflow: its purpose, its trigger, the result of its last run, and its switch. */
export function WorkflowLine({ workflow: w, writes }: { workflow: Workflow; writes: boolean }) {
  const turn = useTurn(w);
  const last = w.last_run;
  const plan = last && planOf(last.plan_state);
  return (
    <Item
      below
      mark={<AuthorBadge author={{ kind: "agent", name: w.name }} large />}
      name={<bdi className={w.enabled || w.trigger === "manual" ? undefined : "dim"}>{w.name}</bdi>}
      open={(name) => (
        <Link to="/workflows/$id" params={{ id: w.slug }}>
          {name}
        </Link>
      )}
      hint={
        <>
          <bdi>{w.description}</bdi>
          <br />
          {nextOf(w)}
          {w.record.decisions > 0 && <span title={recordHint()}> · {recordOf(w.record)}</span>}
          <br />
          {last ? (
            <>
              <Trans>
                Last run: <Cost usd={last.cost_usd} />
              </Trans>
              {["", statusOf(last.status), moment(last.finished_at ?? last.created_at), ...(plan ? [plan] : [])].join(
                " · ",
              )}
            </>
          ) : (
            t`Never run`
          )}
        </>
      }
      end={
        <>
          {last && (live(last) || last.status === "failed" || last.status === "limit_reached") && (
            <Badge mood={moodOf(last.status)}>{statusOf(last.status)}</Badge>
          )}
          {last?.plan_state === "waiting" && <Badge mood="warn">{t`Needs approval`}</Badge>}
          {w.trigger !== "manual" && (
            <Badge mood={w.enabled ? "in" : "plain"}>
              {w.enabled ? t`On` : t({ message: "Off", context: "a workflow" })}
            </Badge>
          )}
          {writes && w.trigger !== "manual" && (
            <Button
              kind="quiet"
              disabled={turn.isPending}
              aria-label={w.enabled ? t`Turn off: ${{ name: w.name }}` : t`Turn on: ${{ name: w.name }}`}
              onClick={() => turn.mutate(!w.enabled)}
            >
              {w.enabled ? t`Turn off` : t`Turn on`}
            </Button>
          )}
        </>
      }
    />
  );
}
