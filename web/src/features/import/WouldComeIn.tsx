import { i18n } from "@lingui/core";
import { plural, t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { accountName, accounts } from "#/api/accounts";
import { connections } from "#/api/connections";
import type { FilePreview } from "#/api/files";
import { dayShort, localDay } from "#/lib/dates";
import { fromFiles } from "#/lib/provider";
import { Card } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields, Note, Select } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { outcome } from "./columns";
import { Decide } from "./Decide";
import css from "./ImportPage.module.css";
import { choicesOf, type Into, newInto, takers, wanting } from "./into";
import { Likely } from "./Portions";
import { elsewhereWord, proofWord } from "./words";

type Props = {
  preview: FilePreview;
  file: string;
  into: Into;
  onInto: (i: Into) => void;
  lacks: string;
  likely: boolean;
  onLikely: (on: boolean) => void;
  busy: boolean;
  onImport: () => void;
  onBack: () => void;
};

const kinds = () =>
  [
    ["depository", t`Cash or bank account`],
    ["credit", t`Credit card`],
  ] as const;

const here = (into: Into, known: number) =>
  into.kind === "account" ? plural(known, { one: "# skipped", other: "# skipped" }) : t`None (new account)`;

/** How many rows the import would add, and to which account. */
export function WouldComeIn({
  preview: p,
  file,
  into,
  onInto,
  lacks,
  likely,
  onLikely,
  busy,
  onImport,
  onBack,
}: Props) {
  const banks = useQuery(connections).data;
  const files = takers(useQuery(accounts).data, banks);
  const linked = files.some((a) => into.kind === "account" && a.id === into.id && !fromFiles(a));
  const doubtful = into.kind === "account" ? (p.accounts[0]?.likely_duplicates ?? 0) : 0;
  const { inserted, known, bad } = outcome(p, likely ? 0 : doubtful);
  const proof =
    p.accounts[0] && proofWord(p.accounts[0].proof, p.accounts[0].iso_currency_code ?? p.default_currency ?? "");
  const there = useQuery(accounts).data?.find((a) => a.id === p.elsewhere?.account_id);
  const twice = there && accountName(there);
  const today = localDay(new Date());
  const all = Math.max(1, inserted + known + bad);
  const why = lacks || wanting(into, files, banks) || (inserted === 0 ? t`This file has no new transactions.` : "");
  const make = (v: Partial<Extract<Into, { kind: "new" }>>) => into.kind === "new" && onInto({ ...into, ...v });
  return (
    <Card
      title={t`Import summary`}
      foot={<Decide inserted={inserted} why={why} busy={busy} onImport={onImport} onBack={onBack} />}
    >
      <p>
        <span className={css.figure}>{i18n.number(inserted)}</span>
        <br />
        <span className="dim">
          {[
            plural({ inserted }, { one: "new transaction", other: "new transactions" }),
            p.first_date && p.last_date && `${dayShort(p.first_date, today)} – ${dayShort(p.last_date, today)}`,
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </p>
      <svg className={css.bar} aria-hidden="true">
        <rect className={css.known} width="100%" height="8" />
        <rect className={css.bad} width={`${(100 * (inserted + bad)) / all}%`} height="8" />
        <rect className={css.inserted} width={`${(100 * inserted) / all}%`} height="8" />
      </svg>
      <Facts
        facts={[
          [t`New`, i18n.number(inserted)],
          [t`Already imported`, here(into, known)],
          [t`Can’t be read`, i18n.number(bad)],
          ...(p.rows_skipped
            ? ([
                [t`Not transactions`, plural(p.rows_skipped, { one: "# line skipped", other: "# lines skipped" })],
              ] as const)
            : []),
        ]}
      />
      {proof && <p className="dim">{proof}</p>}
      {doubtful > 0 && <Likely count={doubtful} on={likely} onChange={onLikely} />}
      {twice && <Note mood="warn">{elsewhereWord(p, twice)}</Note>}
      <hr className={css.rule} />
      <Fields>
        <Select
          label={t`Import into`}
          hint={linked ? t`coffer imports what is older than the transactions from this bank.` : undefined}
          options={choicesOf(files, banks)}
          value={into.kind === "account" ? into.id : "new"}
          onChange={(e) =>
            onInto(
              e.target.value === "new"
                ? newInto(file, p, p.default_currency ?? "")
                : { kind: "account", id: e.target.value },
            )
          }
        />
        {into.kind === "new" && (
          <>
            <Field
              label={t`Account name`}
              value={into.name}
              onChange={(e) => make({ name: e.target.value })}
              hint={t`For example Checking or Visa.`}
            />
            <Field
              label={t`Bank`}
              list="file-banks"
              value={into.bank}
              onChange={(e) => make({ bank: e.target.value })}
              hint={t`coffer will read future files from this bank the same way.`}
            />
            <datalist id="file-banks">
              {banks
                ?.filter((c) => fromFiles(c) && c.institution_name)
                .map((c) => (
                  <option key={c.id} value={c.institution_name ?? ""} />
                ))}
            </datalist>
            <Field
              label={t`Currency`}
              value={into.currency}
              maxLength={3}
              onChange={(e) => make({ currency: e.target.value.toUpperCase() })}
            />
            <Select
              label={t`Account type`}
              options={kinds()}
              value={into.type}
              onChange={(e) => make({ type: e.target.value as "depository" | "credit" })}
            />
          </>
        )}
      </Fields>
    </Card>
  );
}
