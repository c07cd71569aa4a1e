import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { session } from "#/api/session";
import { Card, Empty } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Page } from "#/ui/Page";

/** The rights of the signed-in person. All are false while they load. */
export function useCan(): { write: boolean; admin: boolean; known: boolean } {
  const can = useQuery(session).data?.can;
  return { write: can?.write === true, admin: can?.admin === true, known: can !== undefined };
}

/** Explains to members why they can't make changes on this screen. */
export function LookOnly({ admin }: { admin?: boolean }) {
  const can = useCan();
  if (!can.known || can.admin || (can.write && !admin)) return null;
  return (
    <Note>
      {can.write
        ? t`Only admins can make changes here.`
        : t`You have view-only access. Ask an admin if you need to make changes.`}
    </Note>
  );
}

/** A screen for admins only. Others see a message, and the screen requests nothing from the server. */
export function ForAdmins({ children }: { children: ReactNode }) {
  const can = useCan();
  if (!can.known) return null;
  if (can.admin) return children;
  return (
    <Page>
      <Card>
        <Empty title={t`Admins only`}>
          <Trans>You need the admin role to open this page.</Trans>
        </Empty>
      </Card>
    </Page>
  );
}
