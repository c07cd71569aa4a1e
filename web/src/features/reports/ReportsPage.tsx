import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { deleteReport, markRead, type Report, reports } from "#/api/reports";
import { moment } from "#/lib/dates";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { actorOf } from "#/parts/maker";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { Seal } from "#/ui/Seal";
import { Markdown } from "./Markdown";
import { opening } from "./markdown";

const seal = (r: Report) => <Seal maker={actorOf({ actor_type: r.author_type, actor_name: "" })} large />;

/** What agents and people wrote for the household to read, read in place. */
export function ReportsPage() {
  const list = useInfiniteQuery(reports);
  const open = useSearch({ from: "/reports" }).open;
  const all = list.data?.pages.flat() ?? [];
  const chosen = all.find((r) => r.short_id === open || r.id === open);
  const unread = all.filter((r) => !r.read_at).length;
  const lines = (
    <Card title={chosen ? "All reports" : undefined} flush>
      {!list.data && !list.error && <Bones rows={6} />}
      {list.data && all.length === 0 && (
        <Empty
          title="No reports yet"
          action={
            <Link className="link" to="/agents" search={{}}>
              Let an assistant in
            </Link>
          }
        >
          An assistant that you ask for a summary, or a program with a key, leaves it here for everyone to read.
        </Empty>
      )}
      <Lines label="Reports">
        {all.map((r) => (
          <Item
            key={r.id}
            mark={seal(r)}
            name={<bdi>{r.title}</bdi>}
            hint={chosen ? moment(r.created_at) : <span className="cut">{opening(r.body) || "\u00a0"}</span>}
            end={
              <>
                {!r.read_at && <Badge mood="act">Unread</Badge>}
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
          Load older ones
        </Button>
      )}
    </Card>
  );
  return (
    <>
      <Top title="Reports" sub={unread > 0 ? `${unread} unread` : undefined} />
      <Page aside={chosen && lines}>
        <LookOnly />
        {list.error && <Fault error={list.error} what="The reports" retry={() => void list.refetch()} />}
        {chosen ? <Reading key={chosen.id} report={chosen} /> : !list.error && lines}
      </Page>
    </>
  );
}

function Reading({ report }: { report: Report }) {
  const go = useNavigate({ from: "/reports" });
  const { write } = useCan();
  const [asks, ask] = useState(false);
  const mark = useDeed({ act: markRead, touches: ["reports", "overview"] });
  const remove = useDeed({
    act: () => deleteReport(report.id),
    touches: ["reports", "overview"],
    said: "Report deleted",
  });
  const fresh = write && !report.read_at;
  const { mutate } = mark;
  // Opening a report is reading it; someone who marks it as unread afterwards has the last word.
  const [seen, see] = useState(false);
  useEffect(() => {
    if (!fresh || seen) return;
    see(true);
    mutate({ id: report.id, read: true });
  }, [fresh, seen, report.id, mutate]);
  return (
    <Card
      title={
        <span className="row">
          {seal(report)}
          <bdi>{report.title}</bdi>
        </span>
      }
      aside={moment(report.created_at)}
      foot={
        <>
          <Button kind="quiet" icon="back" onClick={() => void go({ search: {} })}>
            All reports
          </Button>
          {write && (
            <>
              <Button kind="quiet" onClick={() => mutate({ id: report.id, read: !report.read_at })}>
                {report.read_at ? "Mark as unread" : "Mark as read"}
              </Button>
              <Button kind="quiet" icon="trash" onClick={() => ask(true)}>
                Delete
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
        title="Delete this report?"
        hint="Its words are gone for everyone in the household. No payment is changed."
        act="Delete report"
        fault
        busy={remove.isPending}
        onSubmit={() => remove.mutate(undefined, { onSuccess: () => void go({ search: {} }) })}
      />
    </Card>
  );
}
