import { Trans } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { Children, Component, Fragment, isValidElement, type ReactNode, useState } from "react";
import { Button } from "./Button";
import css from "./Card.module.css";

type State = { error: unknown; broken: boolean; of: ReactNode };
type Props = { children: ReactNode; instead: (error: unknown, again: () => void) => ReactNode };

/**
 * Catches rendering errors: if the content fails, the rest of the screen stays. It renders again as soon as it gets
 * other content.
 */
export class Guard extends Component<Props, State> {
  override state: State = { error: null, broken: false, of: null };
  static getDerivedStateFromError = (error: unknown) => ({ error, broken: true });
  static getDerivedStateFromProps = (p: Props, s: State): State | null =>
    p.children === s.of ? null : { error: null, broken: false, of: p.children };
  again = () => this.setState({ error: null, broken: false });
  override render() {
    return this.state.broken ? this.props.instead(this.state.error, this.again) : this.props.children;
  }
}

/** The details that a person can send to support: the error, and the address of the page. */
export const detailsOf = (error: unknown): string =>
  [
    error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    location.pathname + location.search,
  ].join(" · ");

/** The buttons of a failed part: one loads its data and draws it again, the other copies the details. */
export function Again(p: { error: unknown; again: () => void; filled?: boolean }) {
  const client = useQueryClient();
  const [busy, set] = useState(false);
  const retry = async () => {
    set(true);
    client.removeQueries({ type: "inactive" }); // unused data is requested again when it is drawn
    await client.invalidateQueries();
    set(false);
    p.again();
  };
  return (
    <>
      <Button kind={p.filled ? "filled" : "plain"} icon="sync" disabled={busy} onClick={() => void retry()}>
        <Trans>Try again</Trans>
      </Button>
      <Button kind="quiet" icon="copy" onClick={() => void navigator.clipboard.writeText(detailsOf(p.error))}>
        <Trans>Copy details</Trans>
      </Button>
    </>
  );
}

/** Replaces a part of a card that failed to render. */
const broken = (error: unknown, again: () => void) => (
  <div className={css.broken} role="alert">
    <strong>
      <Trans>Couldn’t show this card</Trans>
    </strong>
    <p className="dim">
      <Trans>Your data is safe and nothing was changed. The rest of the page still works.</Trans>
    </p>
    <span className="row wrap">
      <Again error={error} again={again} />
    </span>
  </div>
);

/** Guards the content of a card. */
export const Guarded = ({ children }: { children: ReactNode }) => <Guard instead={broken}>{children}</Guard>;

const card = (error: unknown, again: () => void) => <section className={css.card}>{broken(error, again)}</section>;

/** Guards each of several cards separately, including cards inside a fragment. */
export function each(children: ReactNode): ReactNode {
  return Children.map(children, (c) => {
    if (!isValidElement<{ children?: ReactNode }>(c)) return c;
    if (c.type === Fragment) return <Fragment key={c.key}>{each(c.props.children)}</Fragment>;
    return (
      <Guard key={c.key} instead={card}>
        {c}
      </Guard>
    );
  });
}
