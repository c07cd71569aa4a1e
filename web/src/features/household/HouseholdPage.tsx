import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Member, members } from "#/api/people";
import { session } from "#/api/session";
import { moment } from "#/lib/dates";
import { draftWaits } from "#/lib/drafts";
import { Fault } from "#/parts/Fault";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { Seal } from "#/ui/Seal";
import { AddMember } from "./AddMember";
import { Keys } from "./Keys";
import { MemberSheet } from "./MemberSheet";
import { roles } from "./roles";

/** What a member who cannot sign in yet waits for. */
const waits = (m: Member) =>
  m.invited_until ? `Invited until ${moment(m.invited_until)}` : !m.has_login && "Cannot sign in";

/** Who is in the household and what lets them, and their programs, in. */
export function HouseholdPage() {
  const { admin } = useCan();
  const me = useQuery(session).data?.user?.id;
  const list = useQuery(members);
  const open = useSearch({ from: "/household" }).member;
  const go = useNavigate({ from: "/household" });
  const [adds, add] = useState(() => draftWaits("member"));
  const chosen = list.data?.find((m) => m.short_id === open);
  const line = (m: Member) => (
    <Item
      key={m.id}
      mark={<Seal maker={{ kind: "person", name: m.name }} large />}
      name={
        <>
          <bdi>{m.name}</bdi>
          {m.id === me && <span className="faint"> (you)</span>}
        </>
      }
      hint={[m.email ?? "No e-mail address", waits(m)].filter(Boolean).join(" · ")}
      end={<Badge mood={m.role === "admin" ? "held" : "plain"}>{roles[m.role].name}</Badge>}
      open={
        admin
          ? (name) => (
              <Link to="/household" search={{ member: m.short_id }}>
                {name}
              </Link>
            )
          : undefined
      }
    />
  );
  return (
    <>
      <Top title="Household">
        {admin && (
          <Button icon="plus" onClick={() => add(true)}>
            Add a member
          </Button>
        )}
      </Top>
      <Page>
        <LookOnly admin />
        {list.error && <Fault error={list.error} what="The members" retry={() => void list.refetch()} />}
        <Card
          title="Members"
          flush
          foot="Admins change everything, members change payments and rules, viewers look and change nothing."
        >
          {list.data ? <Lines label="Members">{list.data.map(line)}</Lines> : !list.error && <Bones rows={3} />}
        </Card>
        {admin && <Keys />}
        {admin && chosen && (
          <MemberSheet key={chosen.id} member={chosen} me={chosen.id === me} onClose={() => void go({ search: {} })} />
        )}
        {admin && <AddMember open={adds} onClose={() => add(false)} />}
      </Page>
    </>
  );
}
