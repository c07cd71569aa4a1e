import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { session } from "#/api/session";
import { Card, Empty } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Page } from "#/ui/Page";

/** What whoever is signed in may do; nothing until it is known. */
export function useCan(): { write: boolean; admin: boolean; known: boolean } {
  const can = useQuery(session).data?.can;
  return { write: can?.write === true, admin: can?.admin === true, known: can !== undefined };
}

/** Says why nothing can be changed here, to those who may only look. */
export function LookOnly({ admin }: { admin?: boolean }) {
  const can = useCan();
  if (!can.known || can.admin || (can.write && !admin)) return null;
  return (
    <Note>
      {can.write
        ? "Only an admin of the household can change this. You can look at all of it."
        : "You can look at everything and change nothing, because your role is viewer. An admin can give you another."}
    </Note>
  );
}

/** A screen for admins alone; others are told so, and nothing is asked of the server. */
export function ForAdmins({ children }: { children: ReactNode }) {
  const can = useCan();
  if (!can.known) return null;
  if (can.admin) return children;
  return (
    <Page>
      <Card>
        <Empty title="For admins">Only an admin of the household can open this screen.</Empty>
      </Card>
    </Page>
  );
}
