import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { written } from "#/lib/typed";
import { settle } from "#/ui/AmountField";
import { Button } from "#/ui/Button";
import { Choose, Entry } from "#/ui/Form";
import css from "./Editor.module.css";
import { type Group, isGroup, type Line, type Mode, type Test, withLine } from "./tree";
import { fields, kindOf, lineWords, modes, type Names, phraseOf } from "./words";

type Shared = { names: Names; accounts: readonly (readonly [string, string])[]; categories: Groups; busy?: boolean };
export type Groups = readonly (readonly [string, readonly (readonly [string, string])[]])[];

const emptyTest: Test = { field: "name", op: "contains", value: "" };
const joined: Record<Mode, MessageDescriptor> = { all: msg`and`, any: msg`or`, none: msg`or`, some: msg`and` };

/** The editor for a rule's conditions: lines, and groups of lines. */
export function Conditions(p: Shared & { group: Group; onChange: (g: Group) => void; inner?: boolean }) {
  const { group: g, onChange, inner, ...shared } = p;
  const add = (line: Line) => onChange({ ...g, lines: [...g.lines, line] });
  return (
    <fieldset className={`${css.part} ${inner ? css.group : ""}`} aria-label={inner ? t`Group` : t`Conditions`}>
      <div className="row">
        <strong>{inner ? t`where` : t`If`}</strong>
        <Choose
          label={inner ? t`Match within group` : t`Match`}
          options={modes()}
          value={g.mode}
          onChange={(e) => onChange({ ...g, mode: e.target.value as Mode })}
        />
      </div>
      {g.lines.length === 0 && <span className="dim">{inner ? t`Empty group` : t`All transactions`}</span>}
      {g.lines.map((line, i) => (
        <OneLine
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          key={i}
          {...shared}
          word={i === 0 ? "" : i18n._(joined[g.mode])}
          inner={inner}
          line={line}
          onChange={(l) => onChange(withLine(g, i, l))}
        />
      ))}
      <div className="row">
        <Button kind="quiet" icon="plus" onClick={() => add(emptyTest)}>
          <Trans>Add condition</Trans>
        </Button>
        {!inner && (
          <Button kind="quiet" icon="plus" onClick={() => add({ mode: "any", lines: [emptyTest] })}>
            <Trans>Add group</Trans>
          </Button>
        )}
      </div>
    </fieldset>
  );
}

type LineProps = Shared & { line: Line; word: string; inner?: boolean; onChange: (l: Line | null) => void };

function OneLine({ line: l, word, inner, onChange, ...shared }: LineProps) {
  const away = (
    <Button
      kind="quiet"
      icon="x"
      aria-label={isGroup(l) ? t`Remove group` : t`Remove condition`}
      onClick={() => onChange(null)}
    />
  );
  if (isGroup(l) && !inner)
    return (
      <>
        <Conditions {...shared} inner group={l} onChange={onChange} />
        <div className={css.line}>
          <span />
          <span className={`${css.kept} small dim`}>
            <Trans>Remove group</Trans>
          </span>
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
    .map(([field, f]) => [i18n._(f.name), f.ops.map(([op]) => phrase(field, op))] as const);
  const known = offered.some(([, list]) => list.some(([value]) => value === here[0]));
  return (
    <div className={css.line}>
      <span>{word}</span>
      <Choose
        label={t`Field`}
        options={known ? undefined : [here]}
        groups={offered}
        value={here[0]}
        onChange={(e) => {
          const [field = "name", op = "contains"] = e.target.value.split(" ");
          const sameKind = kindOf({ ...l, field, op }) === kindOf(l);
          onChange({ field, op, value: sameKind ? l.value : kindOf({ ...l, field, op }) === "flag" ? "true" : "" });
        }}
      />
      <Value {...shared} test={l} onChange={(value) => onChange({ ...l, value })} />
      {away}
    </div>
  );
}

function Value({ test, onChange, accounts, categories }: Shared & { test: Test; onChange: (v: string) => void }) {
  const label = t`Value for ${{ condition: phraseOf(test.field, test.op) }}`;
  const common = { label, value: test.value, onChange: (e: { target: { value: string } }) => onChange(e.target.value) };
  switch (kindOf(test)) {
    case "flag":
      return (
        <Choose
          {...common}
          options={[
            ["true", t`yes`],
            ["false", t`no`],
          ]}
        />
      );
    case "category":
      return <Choose {...common} options={[["", t`Uncategorized`]]} groups={categories} />;
    case "account":
      return <Choose {...common} options={[["", t`Choose account`], ...accounts]} />;
    case "amount":
      return (
        <Entry
          {...common}
          inputMode="decimal"
          placeholder={written(15000n)}
          onBlur={(e) => {
            settle(e.currentTarget);
            if (e.currentTarget.value !== test.value) onChange(e.currentTarget.value);
          }}
        />
      );
    case "tag":
      return <Entry {...common} list="rule-tags" placeholder={test.op === "in" ? t`tag, another` : t`tag`} />;
    default:
      return <Entry {...common} placeholder={test.op === "in" ? t`Rewe, Edeka` : ""} />;
  }
}
