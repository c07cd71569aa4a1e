import { plural, t } from "@lingui/core/macro";
import { Plural } from "@lingui/react/macro";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { accounts } from "#/api/accounts";
import { ApiError } from "#/api/client";
import { connections } from "#/api/connections";
import { createFileConnection, type FileOptions, importFile, type Mapping, preview } from "#/api/files";
import { sentence } from "#/parts/edit";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Page } from "#/ui/Page";
import { began, columnsOf, wentInto } from "./before";
import { Columns } from "./Columns";
import { isTable, lacking, settled, signFor, size } from "./columns";
import { Drop } from "./Drop";
import { FirstRows } from "./FirstRows";
import css from "./ImportPage.module.css";
import { bankNamed, type Into, nameTaken, takers, usualInto } from "./into";
import { Past } from "./Past";
import { Portions } from "./Portions";
import { bankCalled, choiceOf, nameless, type Part, usualPart } from "./portions";
import { ReadAs } from "./ReadAs";
import { Running } from "./Running";
import { takeShared } from "./shared";
import { WouldComeIn } from "./WouldComeIn";
import { refusalOf, rowOf, unreadable, warningOf } from "./words";

/**
 * Imports a statement: first a preview of how the file is read, then the progress and the result. Past imports can be
 * undone.
 */
export function ImportPage() {
  const can = useCan();
  const go = useNavigate({ from: "/import" });
  const { job } = useSearch({ from: "/import" });
  const [files, setFiles] = useState<File[]>([]);
  useEffect(() => void takeShared().then((f) => f.length > 0 && setFiles(f)), []);
  const file = files[0];
  // Several files can be shared at once. Each is imported by itself, and the next one follows.
  const begin = (f: File | null) => {
    setFiles(f ? [f] : files.slice(1));
    void go({ search: {} });
  };
  return (
    <>
      <PageHeader title={t`Import`} sub={file && !job ? t`Nothing is saved until you import` : undefined} />
      {file && !job ? (
        <Look key={`${file.name} ${file.lastModified} ${files.length}`} file={file} onBack={() => begin(null)} />
      ) : (
        <Page>
          <LookOnly />
          {job && <Running id={job} writes={can.write} onDone={() => begin(null)} />}
          {can.write && !job && <Drop onFile={begin} />}
          <Past writes={can.write} />
        </Page>
      )}
    </>
  );
}

/** Shows how coffer reads a file, and the options to change that. */
function Look({ file, onBack }: { file: File; onBack: () => void }) {
  const go = useNavigate({ from: "/import" });
  const [options, setOptions] = useState<FileOptions>({});
  const [chosen, setInto] = useState<Into | null>(null);
  const [chosenParts, setChosenParts] = useState<Record<number, Part>>({});
  const [chosenBank, setBank] = useState<string | null>(null);
  const [likely, setLikely] = useState(false);
  const banks = useQuery(connections).data;
  const all = takers(useQuery(accounts).data, banks);
  const first = useQuery(preview(file, {}, undefined)).data;
  const target = chosen ?? usualInto(all, banks, file.name, first, wentInto(columnsOf(first)));
  const several = (first?.accounts.length ?? 0) > 1;
  const parts = (first?.accounts ?? []).map((a, i) => chosenParts[i] ?? usualPart(a, first?.institution_name ?? null));
  const partsBank = chosenBank ?? first?.institution_name ?? "";
  // The names of new accounts do not affect the preview. They are left out, so that typing a name does not send the
  // file again.
  const choices = several
    ? first?.accounts.map((a, i) => choiceOf(a, nameless(parts[i] ?? { kind: "skip" }), false))
    : undefined;
  const {
    data: p,
    error,
    isPlaceholderData,
  } = useQuery({
    ...preview(file, options, several ? undefined : target.kind === "account" ? target.id : undefined, choices),
    placeholderData: keepPreviousData,
  });
  const called = bankCalled(partsBank, parts);
  const known = parts.find((x) => x.kind === "account");
  const partsAt =
    all.find((a) => known?.kind === "account" && a.id === known.id)?.connection_id ?? bankNamed(banks, called)?.id;
  const into = target.kind === "new" && !target.currency ? { ...target, currency: p?.default_currency ?? "" } : target;
  const say = (o: FileOptions) => setOptions((now) => ({ ...now, ...o }));
  const map = (mapping: Mapping) => {
    const sign = signFor(mapping, p?.amount_sign ?? "negative_out") as FileOptions["amount_sign"];
    say({ mapping, amount_sign: sign });
  };
  const start = useAction({
    act: async () => {
      const how = { ...settled(p), ...options };
      if (several && p) {
        const bank = partsAt ?? (await createFileConnection(called)).id;
        return importFile(bank, file, how, {
          accounts: p.accounts.map((a, i) => choiceOf(a, parts[i] ?? { kind: "skip" }, likely)),
        });
      }
      if (into.kind === "new") {
        const called = into.bank.trim() || into.name.trim();
        const bank = bankNamed(banks, called) ?? (await createFileConnection(called));
        const account = { name: into.name.trim(), iso_currency_code: into.currency, type: into.type };
        return importFile(bank.id, file, how, { account });
      }
      const account = all.find((a) => into.kind === "account" && a.id === into.id);
      return importFile(account?.connection_id ?? "", file, how, {
        account_id: account?.id,
        include_likely_duplicates: likely || undefined,
      });
    },
    touches: ["connections", "accounts"],
  });
  const begin = (j: { id: string }) => {
    began(j.id, columnsOf(first ?? p));
    void go({ search: { job: j.id } });
  };
  const lacks =
    (options.mapping && lacking(options.mapping as Mapping)) ||
    (error ? unreadable(Object.keys(options).length > 0) : "");
  return (
    <Page
      lead={
        p &&
        (several ? (
          <Portions
            preview={p}
            parts={parts}
            onPart={(at, part) => setChosenParts((now) => ({ ...now, [at]: part }))}
            bank={partsBank}
            onBank={setBank}
            taken={(name) => nameTaken(all, partsAt, name)}
            likely={likely}
            onLikely={setLikely}
            busy={start.isPending || isPlaceholderData}
            onBack={onBack}
            onImport={() => start.mutate(undefined, { onSuccess: begin })}
          />
        ) : (
          <WouldComeIn
            preview={p}
            file={file.name}
            into={into}
            onInto={setInto}
            lacks={lacks}
            likely={likely}
            onLikely={setLikely}
            busy={start.isPending || isPlaceholderData}
            onBack={onBack}
            onImport={() => start.mutate(undefined, { onSuccess: begin })}
          />
        ))
      }
    >
      {error && (
        <Note mood="bad">
          <span className="grow">
            {error instanceof ApiError && <strong>{unreadable(Object.keys(options).length > 0)}</strong>}{" "}
            {refusalOf(error)}
          </span>
          <Button onClick={() => (Object.keys(options).length ? setOptions({}) : onBack())}>
            {Object.keys(options).length ? t`Reset settings` : t`Choose another file`}
          </Button>
        </Note>
      )}
      {!p && !error && (
        <Card>
          <Skeleton rows={6} />
        </Card>
      )}
      {p && (
        <>
          <Card
            flush
            title={<bdi>{file.name}</bdi>}
            aside={[size(file.size), plural(p.rows_total, { one: "# row", other: "# rows" })].join(" · ")}
          >
            {isTable(p) && <ReadAs preview={p} onChange={say} />}
            {isTable(p) && <Columns preview={p} onChange={map} />}
          </Card>
          {p.rejected.length > 0 && (
            <Note mood="warn">
              <div>
                <strong>
                  <Plural value={p.rows_rejected} one="# row can’t be read" other="# rows can’t be read" />
                </strong>
                {p.rejected.slice(0, 5).map((r) => (
                  <p key={r.row}>{rowOf(r.row, sentence(r.reason))}</p>
                ))}
              </div>
            </Note>
          )}
          {p.warnings
            .filter((w) => !["rows_rejected", "rows_elsewhere", "several_accounts"].includes(w.code))
            .map((w) => (
              <Note key={w.code} mood="warn">
                {warningOf(w, p)}
              </Note>
            ))}
          <Card flush title={t`Preview`}>
            <FirstRows preview={p} />
          </Card>
          <div className={css.room} />
        </>
      )}
    </Page>
  );
}
