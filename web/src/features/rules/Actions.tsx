import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Action } from "#/api/rules";
import { Button } from "#/ui/Button";
import { Choose, Entry } from "#/ui/Form";
import type { Groups } from "./Conditions";
import css from "./Editor.module.css";
import { acts } from "./words";

type Props = { actions: Action[]; categories: Groups; onChange: (a: Action[]) => void };

const blank = (type: Action["type"]): Action => {
  switch (type) {
    case "set_category":
      return { type, category_slug: "" };
    case "add_comment":
      return { type, content: "" };
    case "assign_counterparty":
      return { type, counterparty_name: "" };
    default:
      return { type, tag_slug: "" };
  }
};

/** The editor for a rule's actions on the transactions that it matches. */
export function Actions({ actions, categories, onChange }: Props) {
  const set = (at: number, a: Action) => onChange(actions.map((x, i) => (i === at ? a : x)));
  const used = new Set(actions.map((a) => a.type));
  // A rule sets at most one category and one payee, but any number of tags and comments.
  const free = (type: Action["type"]) => (type !== "set_category" && type !== "assign_counterparty") || !used.has(type);
  return (
    <fieldset className={css.part} aria-label={t`Actions`}>
      <strong>
        <Trans>Then</Trans>
      </strong>
      {actions.map((a, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an action is its place
        <div key={i} className={css.line}>
          <span>{i === 0 ? "" : t`and`}</span>
          <Choose
            label={t`Action`}
            options={acts().filter(([type]) => type === a.type || free(type))}
            value={a.type}
            onChange={(e) => set(i, blank(e.target.value as Action["type"]))}
          />
          <What action={a} categories={categories} onChange={(x) => set(i, x)} />
          <Button
            kind="quiet"
            icon="x"
            aria-label={t`Remove action`}
            onClick={() => onChange(actions.filter((_, j) => j !== i))}
          />
        </div>
      ))}
      <div className="row">
        <Button
          kind="quiet"
          icon="plus"
          onClick={() => onChange([...actions, blank(used.has("set_category") ? "add_tag" : "set_category")])}
        >
          <Trans>Add action</Trans>
        </Button>
      </div>
    </fieldset>
  );
}

function What({
  action: a,
  categories,
  onChange,
}: {
  action: Action;
  categories: Groups;
  onChange: (a: Action) => void;
}) {
  switch (a.type) {
    case "set_category":
      return (
        <Choose
          label={t`Category`}
          options={[["", t`Choose category`]]}
          groups={categories}
          value={a.category_slug ?? ""}
          onChange={(e) => onChange({ ...a, category_slug: e.target.value })}
        />
      );
    case "add_comment":
      return (
        <Entry
          label={t`Comment`}
          value={a.content ?? ""}
          onChange={(e) => onChange({ ...a, content: e.target.value })}
        />
      );
    case "assign_counterparty":
      return a.counterparty_id ? (
        <span className="dim">
          <Trans>the saved payee</Trans>
        </span>
      ) : (
        <Entry
          label={t`Payee name`}
          value={a.counterparty_name ?? ""}
          onChange={(e) => onChange({ ...a, counterparty_name: e.target.value })}
        />
      );
    default:
      return (
        <Entry
          label={t`Tag`}
          list="rule-tags"
          value={a.tag_slug ?? ""}
          onChange={(e) => onChange({ ...a, tag_slug: e.target.value.toLowerCase().replaceAll(" ", "-") })}
        />
      );
  }
}
