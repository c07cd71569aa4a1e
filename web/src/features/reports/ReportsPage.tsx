import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { deleteReport, markRead, type Report, reports } from "#/api/reports";
import { moment } from "#/lib/dates";
import { authorOfChange } from "#/parts/author";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { useAction } from "#/parts/useAction";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { Markdown } from "./Markdown";
import { opening } from "./markdown";

const authorBadge = (r: Report) => (
  <AuthorBadge author={authorOfChange({ actor_type: r.author_type, actor_name: "" })} large />
);

/** The reports that agents and people wrote for the household. They open in place. */
export function ReportsPage() {
  const list = useInfiniteQuery(reports);
  const open = useSearch({ from: "/reports" }).open;
  const all = list.data?.pages.flat() ?? [];
  const chosen = all.find((r) => r.short_id === open || r.id === open);
  const unread = all.filter((r) => !r.read_at).length;
  const lines = (
    <Card title={chosen ? t`All reports` : undefined} flush>
      {!list.data && !list.error && <Skeleton rows={6} />}
      {list.data && all.length === 0 && (
        <Empty
          title={t`No reports yet`}
          action={
            <Link className="link" to="/agents/assistants" search={{}}>
              <Trans>Connect an assistant</Trans>
            </Link>
          }
        >
          <Trans>Summaries written by your assistants and workflows appear here for the whole household.</Trans>
        </Empty>
      )}
      <Lines label={t`Reports`}>
        {all.map((r) => (
          <Item
            key={r.id}
            mark={authorBadge(r)}
            name={<bdi>{r.title}</bdi>}
            hint={chosen ? moment(r.created_at) : <span className="cut">{opening(r.body) || "\u00a0"}</span>}
            end={
              <>
                {!r.read_at && (
                  <Badge mood="act">
                    <Trans>Unread</Trans>
                  </Badge>
                )}
                {!chosen && <span className="small dim">{moment(r.created_at)}</span>}
              </>
            }
            open={(name) => (
              <Link to="/reports" search={{ open: r.short_id }} aria-current={r === chosen || undefined}>
                {name}
              </Link>
            )}
          />
        ))}
      </Lines>
      {list.hasNextPage && (
        <Button kind="quiet" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          <Trans>Load more</Trans>
        </Button>
      )}
    </Card>
  );
  return (
    <>
      <PageHeader
        title={t`Reports`}
        sub={unread > 0 ? plural(unread, { one: "# unread", other: "# unread" }) : undefined}
      />
      <Page aside={chosen && lines}>
        <LookOnly />
        {list.error && <Fault error={list.error} what={t`reports`} retry={() => void list.refetch()} />}
        {chosen ? <Reading key={chosen.id} report={chosen} /> : !list.error && lines}
      </Page>
    </>
  );
}

function Reading({ report }: { report: Report }) {
  const go = useNavigate({ from: "/reports" });
  const { write } = useCan();
  const [asks, ask] = useState(false);
  const mark = useAction({ act: markRead, touches: ["reports", "overview"] });
  const remove = useAction({
    act: () => deleteReport(report.id),
    touches: ["reports", "overview"],
    text: t`Report deleted`,
  });
  const isUnread = write && !report.read_at;
  const { mutate } = mark;
  // Opening a report marks it as read, once. Someone can then mark it as unread again.
  const [marked, setMarked] = useState(false);
  useEffect(() => {
    if (!isUnread || marked) return;
    setMarked(true);
    mutate({ id: report.id, read: true });
  }, [isUnread, marked, report.id, mutate]);
  return (
    <Card
      title={
        <span className="row">
          {authorBadge(report)}
          <bdi>{report.title}</bdi>
        </span>
      }
      aside={moment(report.created_at)}
      foot={
        <>
          <Button kind="quiet" icon="back" onClick={() => void go({ search: {} })}>
            <Trans>All reports</Trans>
          </Button>
          {write && (
            <>
              <Button kind="quiet" onClick={() => mutate({ id: report.id, read: !report.read_at })}>
                {report.read_at ? t`Mark as unread` : t`Mark as read`}
              </Button>
              <Button kind="quiet" icon="trash" onClick={() => ask(true)}>
                <Trans>Delete</Trans>
              </Button>
            </>
          )}
        </>
      }
    >
      <Markdown text={report.body} title={report.title} />
      <FormDialog
        open={asks}
        onClose={() => ask(false)}
        title={t`Delete report?`}
        hint={t`This deletes the report for everyone in the household. Your transactions aren’t affected.`}
        act={t`Delete report`}
        fault
        busy={remove.isPending}
        onSubmit={() => remove.mutate(undefined, { onSuccess: () => void go({ search: {} }) })}
      />
    </Card>
  );
}
