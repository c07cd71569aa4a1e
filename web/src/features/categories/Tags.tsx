import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { changeTag, createTag, deleteTag, type Tag } from "#/api/filing";
import { tags } from "#/api/tags";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Badge, Tag as Label } from "#/ui/Chip";
import { Field } from "#/ui/Field";
import { Fields } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { Opens } from "./Opens";
import { Cost } from "./Tree";
import { none, times } from "./uses";
import { useUses } from "./useUses";

const touches = ["tags", "transactions", "overview", "changes"];

export function Tags({ typed, write }: { typed: string; write: boolean }) {
  const list = useQuery(tags);
  const uses = useUses("tag");
  const [open, setOpen] = useState<Tag | null>(null);
  const word = typed.trim().toLowerCase();
  const shown = (list.data ?? []).filter((t) => `${t.slug} ${t.name}`.toLowerCase().includes(word));
  return (
    <Card flush>
      {list.error && <Fault error={list.error} what="The tags" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={4} />}
      {list.data && shown.length === 0 && (
        <Empty title="No such tag">
          A tag marks payments across categories: a trip, a tax year, something to claim back.
        </Empty>
      )}
      <Lines label="Tags">
        {shown.map((t) => {
          const use = uses.get(t.slug) ?? none;
          return (
            <Item
              key={t.id}
              name={<bdi>{t.name}</bdi>}
              hint={[times(use.count), t.description].filter(Boolean).join(" · ")}
              end={
                <>
                  {t.is_system && <Badge>Built in</Badge>}
                  {t.name !== t.slug && <Label slug={t.slug} />}
                  <Cost use={use} />
                </>
              }
              open={(name) => (
                <Opens write={write && !t.is_system} onOpen={() => setOpen(t)} tag={t.slug}>
                  {name}
                </Opens>
              )}
            />
          );
        })}
      </Lines>
      {open && <TagForm key={open.id} tag={open} onClose={() => setOpen(null)} />}
    </Card>
  );
}

/** Makes a tag, or renames or deletes one. */
export function TagForm({ tag, onClose }: { tag?: Tag; onClose: () => void }) {
  const make = useDeed({ act: createTag, touches, said: "Tag made", quiet: true });
  const save = useDeed({ act: changeTag, touches, said: "Saved", quiet: true });
  const remove = useDeed({ act: deleteTag, touches, said: "Tag deleted; Activity can undo that" });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={tag ? tag.name : "Make a tag"}
      act={tag ? "Save" : "Make tag"}
      draft={tag ? undefined : "tag"}
      busy={make.isPending || save.isPending || remove.isPending}
      error={make.error ?? save.error}
      onSubmit={(f) => {
        const said = { name: f.text("name"), description: f.text("description") };
        if (tag) save.mutate({ slug: tag.slug, ...said }, { onSuccess: onClose });
        else make.mutate({ slug: f.text("slug"), ...said }, { onSuccess: onClose });
      }}
      foot={
        tag && (
          <Button kind="quiet" onClick={() => remove.mutate(tag.slug, { onSuccess: onClose })}>
            Delete
          </Button>
        )
      }
    >
      <Fields>
        {!tag && (
          <Field
            label="Short name"
            name="slug"
            required
            maxLength={64}
            pattern="[a-z0-9][a-z0-9:_\-]*"
            placeholder="trip:norway-2027"
            autoComplete="off"
            hint="Small letters, figures, - and _; a colon makes a family. It stays as it is."
          />
        )}
        <Field label="Name" name="name" defaultValue={tag?.name} required maxLength={100} autoComplete="off" />
        <Field label="What it is for" name="description" defaultValue={tag?.description} maxLength={500} />
      </Fields>
      {tag && (
        <Link className="link" to="/transactions" search={{ tag: tag.slug }}>
          See its payments
        </Link>
      )}
    </FormDialog>
  );
}
