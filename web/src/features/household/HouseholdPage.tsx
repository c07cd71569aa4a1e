import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Member, members } from "#/api/people";
import { session } from "#/api/session";
import { moment } from "#/lib/dates";
import { draftWaits } from "#/lib/drafts";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { AddMember } from "./AddMember";
import { MemberSheet } from "./MemberSheet";
import { roleName } from "./roles";

/** Why a member can’t sign in yet. */
const waits = (m: Member) =>
  m.invited_until ? t`Invitation expires ${{ when: moment(m.invited_until) }}` : !m.has_login && t`Can’t sign in yet`;

/** The members of the household. */
export function HouseholdPage() {
  const { admin } = useCan();
  const me = useQuery(session).data?.user?.id;
  const list = useQuery(members);
  const open = useSearch({ from: "/settings/members" }).member;
  const go = useNavigate({ from: "/settings/members" });
  const [adds, add] = useState(() => draftWaits("member"));
  const chosen = list.data?.find((m) => m.short_id === open);
  const line = (m: Member) => (
    <Item
      key={m.id}
      mark={<AuthorBadge author={{ kind: "person", name: m.name }} large />}
      name={
        <>
          <bdi>{m.name}</bdi>
          {m.id === me && (
            <>
              {" "}
              <span className="faint">
                <Trans>(you)</Trans>
              </span>
            </>
          )}
        </>
      }
      hint={[m.email ?? t`No email`, waits(m)].filter(Boolean).join(" · ")}
      end={<Badge mood={m.role === "admin" ? "held" : "plain"}>{roleName(m.role)}</Badge>}
      open={
        admin
          ? (name) => (
              <Link to="/settings/members" search={{ member: m.short_id }}>
                {name}
              </Link>
            )
          : undefined
      }
    />
  );
  return (
    <>
      <PageHeader title={t`Settings`}>
        {admin && (
          <Button icon="plus" onClick={() => add(true)}>
            <Trans>Add member</Trans>
          </Button>
        )}
      </PageHeader>
      <Page>
        <LookOnly admin />
        {list.error && <Fault error={list.error} what={t`members`} retry={() => void list.refetch()} />}
        <Card
          title={t`Members`}
          flush
          foot={t`Admins manage everything, members edit transactions and rules, viewers have view-only access.`}
        >
          {list.data ? <Lines label={t`Members`}>{list.data.map(line)}</Lines> : !list.error && <Skeleton rows={3} />}
        </Card>
        {admin && chosen && (
          <MemberSheet key={chosen.id} member={chosen} me={chosen.id === me} onClose={() => void go({ search: {} })} />
        )}
        {admin && <AddMember open={adds} onClose={() => add(false)} />}
      </Page>
    </>
  );
}
