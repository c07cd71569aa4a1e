import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { accounts } from "#/api/accounts";
import { connections } from "#/api/connections";
import { createFileConnection, type FileOptions, importFile, type Mapping, preview } from "#/api/files";
import { useDeed } from "#/parts/deed";
import { sentence } from "#/parts/edit";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Page } from "#/ui/Page";
import { began, columnsOf, wentInto } from "./before";
import { Columns } from "./Columns";
import { lacking, settled, signFor, size } from "./columns";
import { Drop } from "./Drop";
import { FirstRows } from "./FirstRows";
import { bankNamed, fileAccounts, type Into, usualInto } from "./into";
import { Past } from "./Past";
import { ReadAs } from "./ReadAs";
import { Running } from "./Running";
import { WouldComeIn } from "./WouldComeIn";
import { refusalOf, warningOf } from "./words";

/** A bank's file on its way into the books: how it is read, what would come in, and its way back. */
export function ImportPage() {
  const can = useCan();
  const go = useNavigate({ from: "/import" });
  const { job } = useSearch({ from: "/import" });
  const [file, setFile] = useState<File | null>(null);
  const begin = (f: File | null) => {
    setFile(f);
    void go({ search: {} });
  };
  return (
    <>
      <Top title="Import" sub={file && !job ? "Nothing is stored before you import" : undefined} />
      {file && !job ? (
        <Look key={`${file.name} ${file.lastModified}`} file={file} onBack={() => begin(null)} />
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

/** What is known of a file, and what can be said otherwise. */
function Look({ file, onBack }: { file: File; onBack: () => void }) {
  const go = useNavigate({ from: "/import" });
  const [options, setOptions] = useState<FileOptions>({});
  const [chosen, setInto] = useState<Into | null>(null);
  const all = fileAccounts(useQuery(accounts).data);
  const banks = useQuery(connections).data;
  const first = useQuery({ ...preview(file, {}, undefined), enabled: !chosen && all.length > 1 });
  const asked = chosen ?? usualInto(all, file.name, "", wentInto(columnsOf(first.data)));
  const {
    data: p,
    error,
    isPlaceholderData,
  } = useQuery({
    ...preview(file, options, asked.kind === "account" ? asked.id : undefined),
    placeholderData: keepPreviousData,
  });
  const into = asked.kind === "new" && !asked.currency ? { ...asked, currency: p?.default_currency ?? "" } : asked;
  const say = (o: FileOptions) => setOptions((now) => ({ ...now, ...o }));
  const map = (mapping: Mapping) => {
    const sign = signFor(mapping, p?.amount_sign ?? "negative_out") as FileOptions["amount_sign"];
    say({ mapping, amount_sign: sign });
  };
  const start = useDeed({
    act: async () => {
      const how = { ...settled(p), ...options };
      if (into.kind === "new") {
        const bank = bankNamed(banks, into.bank) ?? (await createFileConnection(into.bank.trim()));
        const account = { name: into.name.trim(), iso_currency_code: into.currency, type: into.type };
        return importFile(bank.id, file, how, { account });
      }
      const account = all.find((a) => into.kind === "account" && a.id === into.id);
      return importFile(account?.connection_id ?? "", file, how, { account_id: account?.id });
    },
    touches: ["connections", "accounts"],
  });
  const begin = (j: { id: string }) => {
    began(j.id, columnsOf(p));
    void go({ search: { job: j.id } });
  };
  const lacks =
    (options.mapping && lacking(options.mapping as Mapping)) || (error ? "The file cannot be read so." : "");
  return (
    <Page
      aside={
        p && (
          <WouldComeIn
            preview={p}
            file={file.name}
            into={into}
            onInto={setInto}
            lacks={lacks}
            busy={start.isPending || isPlaceholderData}
            onBack={onBack}
            onImport={() => start.mutate(undefined, { onSuccess: begin })}
          />
        )
      }
    >
      {error && (
        <Note mood="bad">
          <span className="grow">
            <strong>The file cannot be read so.</strong> {refusalOf(error)}
          </span>
          <Button onClick={() => (Object.keys(options).length ? setOptions({}) : onBack())}>
            {Object.keys(options).length ? "Read it as at first" : "Another file"}
          </Button>
        </Note>
      )}
      {!p && !error && (
        <Card>
          <Bones rows={6} />
        </Card>
      )}
      {p && (
        <>
          <Card
            flush
            title={<bdi>{file.name}</bdi>}
            aside={`${size(file.size)} · ${p.rows_total.toLocaleString("en")} rows`}
          >
            <ReadAs preview={p} onChange={say} />
            <Columns preview={p} onChange={map} />
          </Card>
          {p.rejected.length > 0 && (
            <Note mood="warn">
              <div>
                <strong>
                  {p.rows_rejected === 1 ? "1 row" : `${p.rows_rejected.toLocaleString("en")} rows`} cannot be read
                </strong>
                {p.rejected.slice(0, 5).map((r) => (
                  <p key={r.row}>
                    Row {r.row}: {sentence(r.reason)}
                  </p>
                ))}
              </div>
            </Note>
          )}
          {p.warnings
            .filter((w) => w.code !== "rows_rejected")
            .map((w) => (
              <Note key={w.code} mood="warn">
                {warningOf(w, p)}
              </Note>
            ))}
          <Card flush title="The first rows, as they would come in">
            <FirstRows preview={p} />
          </Card>
        </>
      )}
    </Page>
  );
}
