import type { Candidate } from "#/api/rules";
import css from "./Editor.module.css";
import { type Group, parse } from "./tree";
import { groupWords, type Names } from "./words";

const counted = (n: number) => n.toLocaleString("en");

/** What choosing a suggestion means, in numbers. */
export function offerWords(c: Candidate, ofPayee: number): string {
  const parts = [`${counted(c.match_count)} ${c.match_count === 1 ? "payment" : "payments"}`];
  if (c.of_payee < ofPayee) parts.push(`${counted(c.of_payee)} of the payee’s ${counted(ofPayee)}`);
  else if (c.match_count > c.of_payee) parts.push(`${counted(c.match_count - c.of_payee)} of other payees`);
  if (c.would_change > 0) parts.push(`changes ${counted(c.would_change)}`);
  if (c.held > 0) parts.push(`leaves ${counted(c.held)} that people filed elsewhere`);
  return parts.join(" · ");
}

type Props = {
  candidates: readonly Candidate[];
  ofPayee: number;
  when: Group;
  names: Names;
  onChoose: (when: Group) => void;
};

/** The conditions that would find the payee, each with what it matches. */
export function Offers({ candidates, ofPayee, when, names, onChoose }: Props) {
  const now = JSON.stringify(when);
  return (
    <fieldset className={css.part}>
      <legend>
        <strong>Which payments?</strong>
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
