import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { addMember, type Member, members } from "#/api/people";
import { session } from "#/api/session";
import { draftWaits } from "#/lib/drafts";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { Seal } from "#/ui/Seal";
import { Keys } from "./Keys";
import { MemberSheet } from "./MemberSheet";
import { roles } from "./roles";

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
      hint={m.email ?? "No e-mail address"}
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

function AddMember({ open, onClose }: { open: boolean; onClose: () => void }) {
  const add = useDeed({
    act: addMember,
    proof: true,
    touches: ["users", "overview"],
    said: (m) => `${m.name} is in the household`,
    quiet: true,
  });
  return (
    <FormDialog
      open={open}
      onClose={onClose}
      title="Add a member"
      hint="With an address and a password they can sign in at once. Without, they only own accounts."
      act="Add member"
      draft="member"
      busy={add.isPending}
      error={add.error}
      onSubmit={(f) =>
        add.mutate(
          {
            name: f.text("name"),
            role: f.text("role") as Member["role"],
            ...(f.text("email") ? { email: f.text("email") } : {}),
            ...(f.text("password") ? { password: f.text("password") } : {}),
          },
          { onSuccess: onClose },
        )
      }
    >
      <Fields>
        <Field label="Name" name="name" required maxLength={100} autoComplete="off" />
        <Field label="E-mail address" name="email" type="email" autoComplete="off" hint="Nothing is ever sent to it." />
        <Field
          label="First password"
          name="password"
          type="password"
          minLength={10}
          autoComplete="new-password"
          hint="Ten characters or more. Tell it to them yourself; they can change it under Your account."
        />
        <Select
          label="Role"
          name="role"
          defaultValue="member"
          options={Object.entries(roles).map(([role, r]) => [role, `${r.name}: ${r.may}`] as const)}
        />
      </Fields>
    </FormDialog>
  );
}
