import { plural } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Candidate } from "#/api/rules";
import { number, transactions } from "#/lib/words";
import css from "./Editor.module.css";
import { type Group, parse } from "./tree";
import { groupWords, type Names } from "./words";

/** Describes in numbers what a suggested condition would match and change. */
export function offerWords(c: Candidate, ofPayee: number): string {
  const parts = [transactions(c.match_count)];
  if (c.of_payee < ofPayee) {
    const all = number(ofPayee);
    parts.push(
      plural({ matching: c.of_payee }, { one: `# of this payee’s ${all}`, other: `# of this payee’s ${all}` }),
    );
  } else if (c.match_count > c.of_payee) {
    const others = c.match_count - c.of_payee;
    parts.push(plural(others, { one: "# from other payees", other: "# from other payees" }));
  }
  if (c.would_change > 0) parts.push(plural(c.would_change, { one: "updates #", other: "updates #" }));
  if (c.held > 0) parts.push(plural(c.held, { one: "skips # locked", other: "skips # locked" }));
  return parts.join(" · ");
}

type Props = {
  candidates: readonly Candidate[];
  ofPayee: number;
  when: Group;
  names: Names;
  onChoose: (when: Group) => void;
};

/** The suggested conditions for a payee, each with what it matches. */
export function Offers({ candidates, ofPayee, when, names, onChoose }: Props) {
  const now = JSON.stringify(when);
  return (
    <fieldset className={css.part}>
      <legend>
        <strong>
          <Trans>Match which transactions?</Trans>
        </strong>
      </legend>
      {candidates.map((c) => {
        const meant = parse(c.rule.conditions ?? {});
        const words = groupWords(meant, names);
        return (
          <label key={words} className={css.offer}>
            <input type="radio" name="offer" checked={JSON.stringify(meant) === now} onChange={() => onChoose(meant)} />
            <span>
              <bdi>{words.charAt(0).toUpperCase() + words.slice(1)}</bdi>
              <span className="small dim">{offerWords(c, ofPayee)}</span>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
