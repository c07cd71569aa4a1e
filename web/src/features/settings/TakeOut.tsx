import { useQuery } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { ended, type Job, job } from "#/api/jobs";
import { type Format, takeOut } from "#/api/settings";
import { moment } from "#/lib/dates";
import { useDeed } from "#/parts/deed";
import { filled } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields, Note, Progress, Select } from "#/ui/Form";

const formats: readonly (readonly [Format, string])[] = [
  ["archive", "Everything, for another coffer"],
  ["csv", "Payments, as CSV"],
  ["hledger", "Payments, for hledger"],
  ["beancount", "Payments, for Beancount"],
];

/** The way out: everything in one file, by a link that works once. */
export function TakeOut() {
  const begin = useDeed({ act: takeOut, proof: true, touches: ["jobs"] });
  const [at, follow] = useState<string | null>(null);
  const submit = (e: SubmitEvent<HTMLFormElement>) => {
    e.preventDefault();
    begin.mutate(filled(e.currentTarget).text("format") as Format, { onSuccess: (j) => follow(j.id) });
  };
  return (
    <Card title="Take everything out">
      <form onSubmit={submit}>
        <Fields>
          <Select label="What it holds" name="format" options={formats} />
          <Button type="submit" icon="download" disabled={begin.isPending}>
            Make the file
          </Button>
          {at && <Follow key={at} id={at} />}
        </Fields>
      </form>
    </Card>
  );
}

function Follow({ id }: { id: string }) {
  const { data } = useQuery(job(id));
  if (!data || !ended(data))
    return <Progress label="The file is being made" done={data?.progress?.done ?? 0} of={data?.progress?.total} />;
  const link = linkOf(data);
  if (!link) return <Note mood="bad">{data.error?.message ?? "The file could not be made."}</Note>;
  return (
    <Note mood="good">
      <a className="link" href={link.path} download>
        Download the file
      </a>
      <span className="small dim">works once, until {moment(link.until)}</span>
    </Note>
  );
}

/** The path of the link, because the address by which the server knows itself may be another than ours. */
function linkOf(j: Job): { path: string; until: string } | null {
  const r = j.result as { url?: string | null; expires_at?: string } | null;
  return r?.url ? { path: new URL(r.url).pathname, until: r.expires_at ?? "" } : null;
}
