import { i18n } from "@lingui/core";
import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { recorded } from "#/api/changes";
import { type AccountLink, decideLink } from "#/api/links";
import { undo } from "#/parts/edit";
import { useCan } from "#/parts/rights";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Check } from "#/ui/Form";
import css from "./LinksPage.module.css";
import { Pairs, touches } from "./Pairs";
import { decidedByCoffer, effect, kindWord, meaning, share, unsureWord } from "./words";

type Props = {
  link: AccountLink;
  first?: boolean;
  /** Whether this link is selected for a joint decision. `onPick` changes that. */
  picked?: boolean;
  onPick?: (on: boolean) => void;
};

/** Two accounts that may belong together, and the pairs of transactions that suggest it. */
export function LinkCard({ link: l, first, picked, onPick }: Props) {
  const can = useCan();
  const waits = l.confidence === "auto";
  const [open, setOpen] = useState(waits || l.unsure > 0);
  const decide = useAction({
    act: (v: "confirmed" | "rejected") => recorded(decideLink(l.id, v)),
    touches,
    text: (_, v) => (v === "confirmed" ? t`Linked. Totals updated` : t`Not linked. coffer won’t ask again`),
    change: (r) => r.change,
  });
  const client = useQueryClient();
  const byCoffer = decidedByCoffer(l);
  const back = useMutation({ mutationFn: (change: string) => undo(client, [change]) });
  const name = `${l.primary_account_name} ${l.kind === "mirror" ? "=" : "⇄"} ${l.mirror_account_name}`;
  return (
    <Card
      flush
      title={<bdi>{name}</bdi>}
      aside={
        <Badge mood={waits || l.unsure > 0 ? "warn" : "plain"}>
          {waits || l.unsure > 0
            ? t`needs review`
            : byCoffer
              ? t`linked by coffer`
              : l.confidence === "confirmed"
                ? t`linked`
                : t`not linked`}
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
              {l.kind === "mirror" ? t`Same account` : t`These are transfers`}
            </Button>
          )}
          {can.write && byCoffer && l.change_id && (
            <Button
              icon="undo"
              aria-label={t`Undo: ${{ accounts: name }}`}
              disabled={back.isPending}
              onClick={() => l.change_id && back.mutate(l.change_id)}
            >
              <Trans>Undo</Trans>
            </Button>
          )}
          {can.write && !byCoffer && l.confidence !== "rejected" && (
            <Button icon="x" disabled={decide.isPending} onClick={() => decide.mutate("rejected")}>
              <Trans>Not related</Trans>
            </Button>
          )}
          {onPick && (
            <span className={css.pick}>
              <Check
                label={t`Select`}
                aria-label={t`Select: ${{ accounts: name }}`}
                checked={picked ?? false}
                onChange={(e) => onPick(e.target.checked)}
              />
            </span>
          )}
          <Button kind="quiet" className="end" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? t`Hide matches` : plural(l.matches, { one: "# match", other: "# matches" })}
          </Button>
        </>
      }
    >
      <div className={css.words}>
        <strong>{i18n._(kindWord[l.kind])}</strong>
        <p className="dim">
          <bdi>{meaning(l)}</bdi> <bdi>{effect(l)}</bdi>
        </p>
        {l.unsure > 0 && <p>{unsureWord(l)}</p>}
        {l.evidence && (
          <p>
            <bdi>{share(l)}</bdi>
          </p>
        )}
      </div>
      {open && <Pairs link={l} writes={can.write} />}
    </Card>
  );
}
