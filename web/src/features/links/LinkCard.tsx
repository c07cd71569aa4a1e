import { useState } from "react";
import { recorded } from "#/api/changes";
import { type AccountLink, decideLink } from "#/api/links";
import { useDeed } from "#/parts/deed";
import { useCan } from "#/parts/rights";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import css from "./LinksPage.module.css";
import { Pairs, touches } from "./Pairs";
import { effect, kindWord, meaning } from "./words";

/** Two accounts that may belong together, and the pairs of payments that say so. */
export function LinkCard({ link: l, first }: { link: AccountLink; first?: boolean }) {
  const can = useCan();
  const waits = l.confidence === "auto";
  const [open, setOpen] = useState(waits);
  const decide = useDeed({
    act: (v: "confirmed" | "rejected") => recorded(decideLink(l.id, v)),
    touches,
    said: (_, v) => (v === "confirmed" ? "Linked. Totals leave the pairs out now" : "Not linked, and not asked again"),
    change: (r) => r.change,
  });
  return (
    <Card
      flush
      title={
        <bdi>
          {l.primary_account_name} {l.kind === "mirror" ? "=" : "⇄"} {l.mirror_account_name}
        </bdi>
      }
      aside={
        <Badge mood={waits ? "warn" : "plain"}>
          {waits ? "to decide" : l.confidence === "confirmed" ? "linked" : "not linked"}
        </Badge>
      }
      foot={
        <>
          {can.write && l.confidence !== "confirmed" && (
            <Button
              kind={first ? "filled" : "plain"}
              icon="check"
              disabled={decide.isPending}
              onClick={() => decide.mutate("confirmed")}
            >
              {l.kind === "mirror" ? "Yes, the same money" : "Yes, a transfer"}
            </Button>
          )}
          {can.write && l.confidence !== "rejected" && (
            <Button icon="x" disabled={decide.isPending} onClick={() => decide.mutate("rejected")}>
              No, they only look alike
            </Button>
          )}
          <Button kind="quiet" className="end" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Hide the pairs" : `${l.matches.toLocaleString("en")} ${l.matches === 1 ? "pair" : "pairs"}`}
          </Button>
        </>
      }
    >
      <div className={css.words}>
        <strong>{kindWord[l.kind]}</strong>
        <p className="dim">
          <bdi>{meaning(l)}</bdi> <bdi>{effect(l)}</bdi>
        </p>
      </div>
      {open && <Pairs link={l} writes={can.write} />}
    </Card>
  );
}
