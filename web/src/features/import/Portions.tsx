import { i18n } from "@lingui/core";
import { plural, t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { accounts } from "#/api/accounts";
import { connections } from "#/api/connections";
import type { FilePreview } from "#/api/files";
import { Card } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Check, Fields, Select } from "#/ui/Form";
import { Decide } from "./Decide";
import css from "./ImportPage.module.css";
import { choicesOf, takers } from "./into";
import { insertedCount, makesBank, type Part, type Portion, portionName, wantingParts } from "./portions";
import { proofWord } from "./words";

type Props = {
  preview: FilePreview;
  parts: readonly Part[];
  onPart: (at: number, part: Part) => void;
  bank: string;
  onBank: (name: string) => void;
  taken: (name: string) => string;
  likely: boolean;
  onLikely: (on: boolean) => void;
  busy: boolean;
  onImport: () => void;
  onBack: () => void;
};

/** The accounts in a file, and a choice for each of where its rows go. */
export function Portions(props: Props) {
  const { preview: p, parts, onPart, bank, onBank, taken, likely, onLikely, busy, onImport, onBack } = props;
  const inserted = p.accounts.reduce((n, a, i) => n + insertedCount(a, parts[i] ?? { kind: "skip" }, likely), 0);
  const doubtful = p.accounts.reduce((n, a, i) => n + (parts[i]?.kind === "account" ? a.likely_duplicates : 0), 0);
  const why = wantingParts(p.accounts, parts, taken) || (inserted === 0 ? t`This file has no new transactions.` : "");
  return (
    <Card
      title={plural(p.accounts.length, { one: "# account in this file", other: "# accounts in this file" })}
      foot={<Decide inserted={inserted} why={why} busy={busy} onImport={onImport} onBack={onBack} />}
    >
      {makesBank(parts) && (
        <Fields>
          <Field
            label={t`Bank`}
            value={bank}
            onChange={(e) => onBank(e.target.value)}
            hint={t`coffer will read future files from this bank the same way.`}
          />
        </Fields>
      )}
      {p.accounts.map((a, i) => (
        <One key={a.key} of={a} part={parts[i] ?? { kind: "skip" }} likely={likely} onPart={(x) => onPart(i, x)} />
      ))}
      {doubtful > 0 && <Likely count={doubtful} on={likely} onChange={onLikely} />}
    </Card>
  );
}

/** Asks whether to import rows that seem to be in the account already from another source. */
export function Likely({ count, on, onChange }: { count: number; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <Check
      label={plural(count, {
        one: "Also import # likely duplicate",
        other: "Also import # likely duplicates",
      })}
      hint={t`Another file or your bank connection brought transactions with the same dates and amounts.`}
      checked={on}
      onChange={(e) => onChange(e.target.checked)}
    />
  );
}

function One({ of: a, part, likely, onPart }: { of: Portion; part: Part; likely: boolean; onPart: (p: Part) => void }) {
  const banks = useQuery(connections).data;
  const all = takers(useQuery(accounts).data, banks).filter(
    (x) => !a.iso_currency_code || x.iso_currency_code === a.iso_currency_code,
  );
  const proof = proofWord(a.proof, a.iso_currency_code ?? "");
  const facts = [
    plural({ inserted: insertedCount(a, part, likely) }, { one: "# new transaction", other: "# new transactions" }),
    part.kind === "account" && a.duplicates > 0 && t`${{ known: i18n.number(a.duplicates) }} already imported`,
    ...a.skipped.map((s) => plural(s.count, { one: "# line skipped", other: "# lines skipped" })).slice(0, 1),
  ].filter(Boolean);
  return (
    <section aria-label={portionName(a)}>
      <p>
        <strong>
          <bdi>{portionName(a)}</bdi>
        </strong>
        <br />
        <span className="dim">{facts.join(" · ")}</span>
        {proof && (
          <>
            <br />
            <span className="dim">{proof}</span>
          </>
        )}
      </p>
      <Fields>
        <Select
          label={t`Import into`}
          options={[...choicesOf(all, banks), ["skip", t`Leave out`] as const]}
          value={part.kind === "account" ? part.id : part.kind}
          onChange={(e) => {
            const v = e.target.value;
            onPart(
              v === "skip"
                ? { kind: "skip" }
                : v === "new"
                  ? { kind: "new", name: portionName(a) }
                  : { kind: "account", id: v },
            );
          }}
        />
        {part.kind === "new" && (
          <Field
            label={t`Account name`}
            value={part.name}
            onChange={(e) => onPart({ kind: "new", name: e.target.value })}
          />
        )}
      </Fields>
      <hr className={css.rule} />
    </section>
  );
}
