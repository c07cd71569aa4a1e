import { Button } from "#/ui/Button";
import { Choose, Entry } from "#/ui/Form";
import css from "./Editor.module.css";
import { type Group, isGroup, type Line, type Mode, type Test, withLine } from "./tree";
import { fields, kindOf, lineWords, modes, type Names, phraseOf } from "./words";

type Shared = { names: Names; accounts: readonly (readonly [string, string])[]; categories: Groups; busy?: boolean };
export type Groups = readonly (readonly [string, readonly (readonly [string, string])[]])[];

const fresh: Test = { field: "name", op: "contains", value: "" };
const joined = { all: "and", any: "or", none: "or", some: "and" } as const;

/** The conditions of a rule: lines that belong together, and groups of lines among them. */
export function Conditions(p: Shared & { group: Group; onChange: (g: Group) => void; inner?: boolean }) {
  const { group: g, onChange, inner, ...shared } = p;
  const add = (line: Line) => onChange({ ...g, lines: [...g.lines, line] });
  return (
    <fieldset className={`${css.part} ${inner ? css.group : ""}`} aria-label={inner ? "Group" : "Conditions"}>
      <div className="row">
        <strong>{inner ? "where" : "When"}</strong>
        <Choose
          label={inner ? "How the lines of the group belong together" : "How the lines belong together"}
          options={modes}
          value={g.mode}
          onChange={(e) => onChange({ ...g, mode: e.target.value as Mode })}
        />
      </div>
      {g.lines.length === 0 && (
        <span className="dim">{inner ? "An empty group" : "Every payment, whatever it is"}</span>
      )}
      {g.lines.map((line, i) => (
        <OneLine
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          key={i}
          {...shared}
          word={i === 0 ? "" : joined[g.mode]}
          inner={inner}
          line={line}
          onChange={(l) => onChange(withLine(g, i, l))}
        />
      ))}
      <div className="row">
        <Button kind="quiet" icon="plus" onClick={() => add(fresh)}>
          Add a condition
        </Button>
        {!inner && (
          <Button kind="quiet" icon="plus" onClick={() => add({ mode: "any", lines: [fresh] })}>
            Add a group
          </Button>
        )}
      </div>
    </fieldset>
  );
}

type LineProps = Shared & { line: Line; word: string; inner?: boolean; onChange: (l: Line | null) => void };

function OneLine({ line: l, word, inner, onChange, ...shared }: LineProps) {
  const away = <Button kind="quiet" icon="x" aria-label="Without this condition" onClick={() => onChange(null)} />;
  if (isGroup(l) && !inner)
    return (
      <>
        <Conditions {...shared} inner group={l} onChange={onChange} />
        <div className={css.line}>
          <span />
          <span className={`${css.kept} small dim`}>Without this group</span>
          {away}
        </div>
      </>
    );
  if (isGroup(l))
    return (
      <div className={css.line}>
        <span>{word}</span>
        <span className={`${css.kept} dim`}>{lineWords(l, shared.names)}</span>
        {away}
      </div>
    );
  const phrase = (field: string, op: string): readonly [string, string] => [`${field} ${op}`, phraseOf(field, op)];
  const here = phrase(l.field, l.op);
  const offered = Object.entries(fields)
    .filter(([, f]) => !f.rare)
    .map(([field, f]) => [f.name, f.ops.map(([op]) => phrase(field, op))] as const);
  const known = offered.some(([, list]) => list.some(([value]) => value === here[0]));
  return (
    <div className={css.line}>
      <span>{word}</span>
      <Choose
        label="What is looked at"
        options={known ? undefined : [here]}
        groups={offered}
        value={here[0]}
        onChange={(e) => {
          const [field = "name", op = "contains"] = e.target.value.split(" ");
          const kept = kindOf({ ...l, field, op }) === kindOf(l);
          onChange({ field, op, value: kept ? l.value : kindOf({ ...l, field, op }) === "flag" ? "true" : "" });
        }}
      />
      <Value {...shared} test={l} onChange={(value) => onChange({ ...l, value })} />
      {away}
    </div>
  );
}

function Value({ test: t, onChange, accounts, categories }: Shared & { test: Test; onChange: (v: string) => void }) {
  const label = `${phraseOf(t.field, t.op)} what`;
  const common = { label, value: t.value, onChange: (e: { target: { value: string } }) => onChange(e.target.value) };
  switch (kindOf(t)) {
    case "flag":
      return (
        <Choose
          {...common}
          options={[
            ["true", "yes"],
            ["false", "no"],
          ]}
        />
      );
    case "category":
      return <Choose {...common} options={[["", "No category"]]} groups={categories} />;
    case "account":
      return <Choose {...common} options={[["", "Choose an account"], ...accounts]} />;
    case "amount":
      return <Entry {...common} inputMode="decimal" placeholder="150.00" />;
    case "tag":
      return <Entry {...common} list="rule-tags" placeholder={t.op === "in" ? "tag, another" : "tag"} />;
    default:
      return <Entry {...common} placeholder={t.op === "in" ? "Rewe, Edeka" : ""} />;
  }
}
