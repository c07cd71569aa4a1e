import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { Button } from "#/ui/Button";
import { Empty } from "#/ui/Card";
import { type Books, nothingIn, showMonth } from "./empty";

/** Shown for a period without money in or out, with a button to the nearest month that has some. */
export function Nothing(p: {
  days: { from: string; to: string; name: string };
  books: Books;
  onChoose: (month: string) => void;
}) {
  const { title, words, month, empty } = nothingIn(p.days, p.books);
  const begin = empty && (
    <Link className="link" to="/import" search={{}}>
      <Trans>Import statement</Trans>
    </Link>
  );
  return (
    <Empty
      title={title}
      action={begin || (month && <Button onClick={() => p.onChoose(month)}>{showMonth(month)}</Button>)}
    >
      {words}
    </Empty>
  );
}
