import { useQuery } from "@tanstack/react-query";
import { connections } from "#/api/connections";
import { moment } from "#/lib/dates";
import { Button } from "#/ui/Button";
import { Empty } from "#/ui/Card";
import { soonest } from "./next";

/** The end of the inbox, and when something comes into it again. */
export function Done({ left, onShow }: { left: number; onShow: () => void }) {
  const next = soonest(useQuery(connections).data ?? [], new Date());
  if (left)
    return (
      <Empty title="The rest is left for later" action={<Button onClick={onShow}>Show what I left</Button>}>
        It stays in the inbox.
      </Empty>
    );
  return (
    <Empty title="Nothing to review">
      {next
        ? `The next payments come at about ${moment(next.at)}, from ${next.bank}.`
        : "New payments come here with the next sync of a bank or the next import."}
    </Empty>
  );
}
