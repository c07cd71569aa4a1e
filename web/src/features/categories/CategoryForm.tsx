import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { changeCategory, createCategory, type Leaf, mergeCategory, tree } from "#/api/filing";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Check, Fields, Select } from "#/ui/Form";
import { refusal } from "./refusal";
import { slugOf } from "./uses";

const touches = ["categories", "transactions", "overview", "changes"];

const kinds = [
  ["expense", "Spending"],
  ["income", "Income"],
  ["transfer", "Moves between own accounts"],
] as const;

/** Makes a category, or renames, moves, hides or merges one. */
export function CategoryForm({ category, onClose }: { category?: Leaf; onClose: () => void }) {
  const all = useQuery(tree).data ?? [];
  const [merges, merge] = useState(false);
  const make = useDeed({ act: createCategory, touches, said: "Category made", quiet: true });
  const save = useDeed({ act: changeCategory, touches, said: "Saved", quiet: true });
  const full = all.some((n) => n.id === category?.id && n.children.length > 0);
  const above = all.filter((n) => n.id !== category?.id);
  const [under, setUnder] = useState(category?.parent_id ?? "");
  if (category && merges) return <Merge category={category} onClose={onClose} />;
  return (
    <FormDialog
      open
      onClose={onClose}
      title={category ? category.display_name : "Make a category"}
      act={category ? "Save" : "Make category"}
      draft={category ? undefined : "category"}
      busy={make.isPending || save.isPending}
      error={refusal(make.error) ?? save.error}
      onSubmit={(f) => {
        const name = f.text("name");
        const parent = all.find((n) => n.id === f.text("under"));
        const taken = new Set(all.flatMap((n) => [n.slug, ...n.children.map((c) => c.slug)]));
        const kind = parent ? {} : { kind: f.text("kind") as "expense" };
        if (category)
          save.mutate(
            {
              id: category.id,
              name,
              hidden: f.has("hidden"),
              ...(full ? {} : { parent_id: parent?.id ?? null }),
              ...(under ? {} : kind),
            },
            { onSuccess: onClose },
          );
        else
          make.mutate(
            { slug: slugOf(name, parent?.slug, taken), name, ...(parent ? { parent_id: parent.id } : kind) },
            { onSuccess: onClose },
          );
      }}
      foot={
        category && (
          <Button kind="quiet" onClick={() => merge(true)}>
            Merge into another
          </Button>
        )
      }
    >
      <Fields>
        <Field
          label="Name"
          name="name"
          defaultValue={category?.display_name}
          required
          maxLength={100}
          autoComplete="off"
        />
        {!full && (
          <Select
            label="Belongs to"
            name="under"
            value={under}
            onChange={(e) => setUnder(e.target.value)}
            options={[["", "Nothing: it stands at the top"], ...above.map((n) => [n.id, n.display_name] as const)]}
          />
        )}
        {!under && <Select label="Counts as" name="kind" defaultValue={category?.kind} options={kinds} />}
        {category && (
          <Check
            label="Hidden"
            hint="Not offered when filing; payments that have it keep it."
            name="hidden"
            defaultChecked={category.hidden}
          />
        )}
      </Fields>
      {category && (
        <Link className="link" to="/transactions" search={{ category: category.slug }}>
          See its payments
        </Link>
      )}
    </FormDialog>
  );
}

function Merge({ category, onClose }: { category: Leaf; onClose: () => void }) {
  const all = (useQuery(tree).data ?? []).flatMap((n) => [n, ...n.children]).filter((c) => c.id !== category.id);
  const merge = useDeed({
    act: mergeCategory,
    touches: [...touches, "rules"],
    said: (into) => `${category.display_name} is now part of ${into.name}`,
    quiet: true,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Merge ${category.display_name} into another`}
      hint="Its payments and rules move there, and it is gone from the list. Activity can undo that."
      act="Merge"
      busy={merge.isPending}
      error={merge.error}
      onSubmit={(f) => merge.mutate({ id: category.id, into: f.text("into") }, { onSuccess: onClose })}
    >
      <Select
        label="Into"
        name="into"
        options={all.map((c) => [
          c.id,
          c.parent_display_name ? `${c.parent_display_name}: ${c.display_name}` : c.display_name,
        ])}
      />
    </FormDialog>
  );
}
