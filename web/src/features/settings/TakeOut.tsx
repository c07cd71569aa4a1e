import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { ended, type Job, job } from "#/api/jobs";
import { type Format, takeOut } from "#/api/settings";
import { moment } from "#/lib/dates";
import { filled } from "#/parts/FormDialog";
import { refusal } from "#/parts/refusals";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields, Note, Progress, Select } from "#/ui/Form";

const formats = (): readonly (readonly [Format, string])[] => [
  ["archive", t`Full archive`],
  ["csv", t`Transactions (CSV)`],
  ["hledger", t`Transactions (hledger)`],
  ["beancount", t`Transactions (Beancount)`],
];

/** Exports data as one file. The link to the file works once. */
export function TakeOut() {
  const begin = useAction({ act: takeOut, reauth: true, touches: ["jobs"] });
  const [at, follow] = useState<string | null>(null);
  const submit = (e: SubmitEvent<HTMLFormElement>) => {
    e.preventDefault();
    begin.mutate(filled(e.currentTarget).text("format") as Format, { onSuccess: (j) => follow(j.id) });
  };
  return (
    <Card title={t`Export data`}>
      <form onSubmit={submit}>
        <Fields>
          <Select label={t`Format`} name="format" options={formats()} />
          <p>
            <Button type="submit" icon="download" disabled={begin.isPending}>
              <Trans>Export</Trans>
            </Button>
          </p>
          {at && <Follow key={at} id={at} />}
        </Fields>
      </form>
    </Card>
  );
}

function Follow({ id }: { id: string }) {
  const { data } = useQuery(job(id));
  if (!data || !ended(data))
    return <Progress label={t`Preparing export…`} done={data?.progress?.done ?? 0} of={data?.progress?.total} />;
  const link = linkOf(data);
  if (!link) return <Note mood="bad">{data.error ? refusal(data.error) : t`Export failed.`}</Note>;
  return (
    <Note mood="good">
      <a className="link" href={link.path} download>
        <Trans>Download</Trans>
      </a>
      <span className="small dim">{t`one-time link, expires ${{ time: moment(link.until) }}`}</span>
    </Note>
  );
}

/**
 * The path of the link. Its host is left out, because the server may know itself by another address than the browser
 * does.
 */
function linkOf(j: Job): { path: string; until: string } | null {
  const r = j.result as { url?: string | null; expires_at?: string } | null;
  return r?.url ? { path: new URL(r.url).pathname, until: r.expires_at ?? "" } : null;
}
