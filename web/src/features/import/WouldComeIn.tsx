import { useQuery } from "@tanstack/react-query";
import { accounts } from "#/api/accounts";
import { connections } from "#/api/connections";
import type { FilePreview } from "#/api/files";
import { dayShort, localDay } from "#/lib/dates";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { outcome } from "./columns";
import css from "./ImportPage.module.css";
import { choicesOf, fileAccounts, type Into, usualInto, wanting } from "./into";

type Props = {
  preview: FilePreview;
  file: string;
  into: Into;
  onInto: (i: Into) => void;
  lacks: string;
  busy: boolean;
  onImport: () => void;
  onBack: () => void;
};

const kinds = [
  ["depository", "Money that you have"],
  ["credit", "A card"],
] as const;

const n = (x: number) => x.toLocaleString("en");

const here = (into: Into, known: number) =>
  into.kind === "account"
    ? `${n(known)}, left out`
    : into.kind === "new"
      ? "none, the account is new"
      : "not known yet";

/** How many rows would come in, and into which account. */
export function WouldComeIn({ preview: p, file, into, onInto, lacks, busy, onImport, onBack }: Props) {
  const files = fileAccounts(useQuery(accounts).data);
  const banks = useQuery(connections).data;
  const { fresh, known, bad } = outcome(p);
  const today = localDay(new Date());
  const all = Math.max(1, fresh + known + bad);
  const why = lacks || wanting(into) || (fresh === 0 ? "There is nothing new in this file." : "");
  const make = (v: Partial<Extract<Into, { kind: "new" }>>) => into.kind === "new" && onInto({ ...into, ...v });
  return (
    <Card
      title="Would come in"
      foot={
        <>
          <Button kind="filled" disabled={why !== "" || busy} onClick={onImport}>
            Import {n(fresh)} {fresh === 1 ? "payment" : "payments"}
          </Button>
          <Button kind="quiet" onClick={onBack}>
            Another file
          </Button>
          {why && <span>{why}</span>}
        </>
      }
    >
      <p>
        <span className={css.figure}>{n(fresh)}</span>
        <br />
        <span className="dim">
          new payments
          {p.first_date && p.last_date && `, ${dayShort(p.first_date, today)} – ${dayShort(p.last_date, today)}`}
        </span>
      </p>
      <svg className={css.bar} aria-hidden="true">
        <rect className={css.known} width="100%" height="8" />
        <rect className={css.bad} width={`${(100 * (fresh + bad)) / all}%`} height="8" />
        <rect className={css.fresh} width={`${(100 * fresh) / all}%`} height="8" />
      </svg>
      <Facts
        facts={[
          ["New", n(fresh)],
          ["Already here", here(into, known)],
          ["Cannot be read", n(bad)],
          ...(p.rows_skipped
            ? ([["Not payments", `${n(p.rows_skipped)} ${p.rows_skipped === 1 ? "line" : "lines"}, left out`]] as const)
            : []),
        ]}
      />
      <hr className={css.rule} />
      <Fields>
        <Select
          label="Into the account"
          options={[...(into.kind === "none" ? ([["", "Choose one"]] as const) : []), ...choicesOf(files, banks)]}
          value={into.kind === "account" ? into.id : into.kind === "new" ? "new" : ""}
          onChange={(e) =>
            onInto(
              e.target.value === "new"
                ? usualInto([], file, p.default_currency ?? "")
                : { kind: "account", id: e.target.value },
            )
          }
        />
        {into.kind === "new" && (
          <>
            <Field label="Name of the account" value={into.name} onChange={(e) => make({ name: e.target.value })} />
            <Field
              label="Bank"
              list="file-banks"
              value={into.bank}
              onChange={(e) => make({ bank: e.target.value })}
              hint="Later files of this bank are read in the same way."
            />
            <datalist id="file-banks">
              {banks
                ?.filter((c) => c.provider === "csv" && c.institution_name)
                .map((c) => (
                  <option key={c.id} value={c.institution_name ?? ""} />
                ))}
            </datalist>
            <Field
              label="Currency"
              value={into.currency}
              maxLength={3}
              onChange={(e) => make({ currency: e.target.value.toUpperCase() })}
            />
            <Select
              label="What it is"
              options={kinds}
              value={into.type}
              onChange={(e) => make({ type: e.target.value as "depository" | "credit" })}
            />
          </>
        )}
      </Fields>
    </Card>
  );
}
