import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { calendarLinks, makeCalendarLink, revokeCalendarLink } from "#/api/calendar";
import { session } from "#/api/session";
import { moment } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { useCan } from "#/parts/rights";
import { SecretDialog } from "#/parts/SecretDialog";
import { used } from "#/parts/SignIns";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Fields, Select } from "#/ui/Form";
import { Icon } from "#/ui/Icon";
import { Item, Lines } from "#/ui/Lines";

/** The member's links by which calendar apps read upcoming payments. */
export function Calendars() {
  const can = useCan();
  const me = useQuery(session).data?.user?.id;
  const list = useQuery(calendarLinks);
  const [asks, ask] = useState(false);
  const make = useAction({ act: makeCalendarLink, touches: ["me"], quiet: true });
  const end = useAction({ act: revokeCalendarLink, touches: ["me"], text: t`Calendar link revoked` });
  const all = (list.data?.calendar_links ?? []).filter((l) => l.user_id === me);
  const done = () => {
    make.reset();
    ask(false);
  };
  return (
    <Card
      title={t`Calendar links`}
      flush
      aside={
        can.write && (
          <Button onClick={() => ask(true)}>
            <Trans>Create link…</Trans>
          </Button>
        )
      }
    >
      {list.error && <Fault error={list.error} what={t`your calendar links`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={1} />}
      {list.data && (
        <Lines label={t`Calendar links`}>
          {all.length === 0 && (
            <Item
              name={t`No calendar links`}
              hint={t`A link shows upcoming payments in the calendar on your phone or computer`}
            />
          )}
          {all.map((l) => {
            const name = l.amounts ? t`Upcoming payments with amounts` : t`Upcoming payments without amounts`;
            const made = moment(l.created_at);
            return (
              <Item
                key={l.id}
                mark={<Icon name="calendar" />}
                name={name}
                hint={t`created ${{ when: made }} · ${{ used: used(l.last_used_at) }}`}
                end={
                  // Several links can have the same name, so the label of the button says when its link was created.
                  <Button
                    kind="quiet"
                    aria-label={t`Revoke: ${{ link: `${name}, ${made}` }}`}
                    disabled={end.isPending}
                    onClick={() => end.mutate(l.id)}
                  >
                    <Trans>Revoke</Trans>
                  </Button>
                }
              />
            );
          })}
        </Lines>
      )}
      {make.data ? (
        <SecretDialog
          open
          title={t`Calendar link`}
          what={t`link`}
          secret={make.data.url}
          onDone={done}
          hint={t`Subscribe to it in your calendar app. Anyone who has it can read the calendar; revoke it here to stop that.`}
        />
      ) : (
        <FormDialog
          open={asks}
          onClose={done}
          title={t`Create calendar link`}
          hint={t`Calendar apps read it without a password and may pass it on to other services.`}
          act={t`Create link`}
          busy={make.isPending}
          error={make.error}
          onSubmit={(f) => make.mutate(f.text("amounts") === "yes")}
        >
          <Fields>
            <Select
              label={t`Shows`}
              name="amounts"
              options={[
                ["no", t`Payees only`],
                ["yes", t`Payees and amounts`],
              ]}
            />
          </Fields>
        </FormDialog>
      )}
    </Card>
  );
}
