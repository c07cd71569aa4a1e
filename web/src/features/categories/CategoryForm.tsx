import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { changeCategory, createCategory, type Leaf, mergeCategory, tree } from "#/api/filing";
import { type Chosen, chosen, colors } from "#/lib/tones";
import { within } from "#/parts/categories";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Check, Fields, Select } from "#/ui/Form";
import { Looks } from "./Looks";
import { refusal } from "./refusal";
import { slugOf } from "./uses";

const touches = ["categories", "transactions", "overview", "changes"];

const kinds = () =>
  [
    ["expense", t`Spending`],
    ["income", t`Income`],
    ["transfer", t`Transfer`],
  ] as const;

/** The color and picture that the person changed. A stored value that the app does not have is kept. */
function changed(category: Leaf, look: Chosen): Partial<Chosen> {
  const now = chosen(category);
  const tone = now.tone === undefined ? "" : colors[now.tone - 1];
  return {
    ...(look.color !== tone && { color: look.color }),
    ...(look.icon !== (now.icon ?? "") && { icon: look.icon }),
  };
}

/** Creates a category, or renames, moves, hides or merges an existing one. */
export function CategoryForm({ category, onClose }: { category?: Leaf; onClose: () => void }) {
  const all = useQuery(tree).data ?? [];
  const [merges, merge] = useState(false);
  const make = useAction({ act: createCategory, touches, text: t`Category created`, quiet: true });
  const save = useAction({ act: changeCategory, touches, text: t`Saved`, quiet: true });
  const full = all.some((n) => n.id === category?.id && n.children.length > 0);
  const above = all.filter((n) => n.id !== category?.id);
  const [under, setUnder] = useState(category?.parent_id ?? "");
  if (category && merges) return <Merge category={category} onClose={onClose} />;
  return (
    <FormDialog
      open
      onClose={onClose}
      title={category ? category.display_name : t`New category`}
      act={category ? t`Save` : t`Create category`}
      draft={category ? undefined : "category"}
      busy={make.isPending || save.isPending}
      error={refusal(make.error) ?? save.error}
      onSubmit={(f) => {
        const name = f.text("name");
        const parent = all.find((n) => n.id === f.text("under"));
        const taken = new Set(all.flatMap((n) => [n.slug, ...n.children.map((c) => c.slug)]));
        const look = { color: f.text("color"), icon: f.text("icon") };
        const kind = parent ? {} : { kind: f.text("kind") as "expense" };
        if (category)
          save.mutate(
            {
              id: category.id,
              name,
              hidden: f.has("hidden"),
              ...changed(category, look),
              ...(full ? {} : { parent_id: parent?.id ?? null }),
              ...(under ? {} : kind),
            },
            { onSuccess: onClose },
          );
        else
          make.mutate(
            { slug: slugOf(name, parent?.slug, taken), name, ...look, ...(parent ? { parent_id: parent.id } : kind) },
            { onSuccess: onClose },
          );
      }}
      foot={
        category && (
          <Button kind="quiet" onClick={() => merge(true)}>
            <Trans>Merge…</Trans>
          </Button>
        )
      }
    >
      <Fields>
        <Field
          label={t`Name`}
          name="name"
          defaultValue={category?.display_name}
          required
          maxLength={100}
          autoComplete="off"
        />
        {!full && (
          <Select
            label={t`Parent category`}
            name="under"
            value={under}
            onChange={(e) => setUnder(e.target.value)}
            options={[["", t`None (top level)`], ...above.map((n) => [n.id, n.display_name] as const)]}
          />
        )}
        {!under && <Select label={t`Type`} name="kind" defaultValue={category?.kind} options={kinds()} />}
        <Looks category={category} />
        {category && (
          <Check
            label={t`Hidden`}
            hint={t`Not offered for new transactions. Existing ones keep it.`}
            name="hidden"
            defaultChecked={category.hidden}
          />
        )}
      </Fields>
      {category && (
        <Link className="link" to="/transactions" search={{ category: category.slug }}>
          <Trans>View transactions</Trans>
        </Link>
      )}
    </FormDialog>
  );
}

function Merge({ category, onClose }: { category: Leaf; onClose: () => void }) {
  const all = (useQuery(tree).data ?? []).flatMap((n) => [n, ...n.children]).filter((c) => c.id !== category.id);
  const merge = useAction({
    act: mergeCategory,
    touches: [...touches, "rules"],
    text: (into) => t`${{ category: category.display_name }} merged into ${{ other: into.name }}`,
    quiet: true,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Merge ${{ category: category.display_name }}`}
      hint={t`Moves its transactions and rules to the other category and removes it. You can undo this in Activity.`}
      act={t`Merge`}
      busy={merge.isPending}
      error={merge.error}
      onSubmit={(f) => merge.mutate({ id: category.id, into: f.text("into") }, { onSuccess: onClose })}
    >
      <Select
        label={t`Merge into`}
        name="into"
        options={all.map((c) => [c.id, within(c.parent_display_name, c.display_name)])}
      />
    </FormDialog>
  );
}
