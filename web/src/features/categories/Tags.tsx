import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { changeTag, createTag, deleteTag, type Tag } from "#/api/filing";
import { tags } from "#/api/tags";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
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
  const shown = (list.data ?? []).filter((x) => `${x.slug} ${x.name}`.toLowerCase().includes(word));
  return (
    <Card flush>
      {list.error && <Fault error={list.error} what={t`tags`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={4} />}
      {list.data && shown.length === 0 && (
        <Empty title={t`No matching tags`}>
          <Trans>Use tags to group transactions across categories: a trip, a tax year, a reimbursement.</Trans>
        </Empty>
      )}
      <Lines label={t`Tags`}>
        {shown.map((tag) => {
          const use = uses.get(tag.slug) ?? none;
          return (
            <Item
              key={tag.id}
              name={<bdi>{tag.name}</bdi>}
              hint={[times(use.count), tag.description].filter(Boolean).join(" · ")}
              end={
                <>
                  {tag.is_system && (
                    <Badge>
                      <Trans>Built-in</Trans>
                    </Badge>
                  )}
                  {tag.name !== tag.slug && <Label slug={tag.slug} />}
                  <Cost use={use} />
                </>
              }
              open={(name) => (
                <Opens write={write && !tag.is_system} onOpen={() => setOpen(tag)} tag={tag.slug}>
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

/** Creates a tag, or renames or deletes an existing one. */
export function TagForm({ tag, onClose }: { tag?: Tag; onClose: () => void }) {
  const make = useAction({ act: createTag, touches, text: t`Tag created`, quiet: true });
  const save = useAction({ act: changeTag, touches, text: t`Saved`, quiet: true });
  const remove = useAction({ act: deleteTag, touches, text: t`Tag deleted` });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={tag ? tag.name : t`New tag`}
      act={tag ? t`Save` : t`Create tag`}
      draft={tag ? undefined : "tag"}
      busy={make.isPending || save.isPending || remove.isPending}
      error={make.error ?? save.error}
      onSubmit={(f) => {
        const values = { name: f.text("name"), description: f.text("description") };
        if (tag) save.mutate({ slug: tag.slug, ...values }, { onSuccess: onClose });
        else make.mutate({ slug: f.text("slug"), ...values }, { onSuccess: onClose });
      }}
      foot={
        tag && (
          <Button kind="quiet" onClick={() => remove.mutate(tag.slug, { onSuccess: onClose })}>
            <Trans>Delete</Trans>
          </Button>
        )
      }
    >
      <Fields>
        {!tag && (
          <Field
            label={t`Slug`}
            name="slug"
            required
            maxLength={64}
            pattern="[a-z0-9][a-z0-9:_\-]*"
            placeholder={t`trip:norway-2027`}
            autoComplete="off"
            hint={t`Lowercase letters, numbers, - and _. Use a colon to group tags. Can’t be changed later.`}
          />
        )}
        <Field label={t`Name`} name="name" defaultValue={tag?.name} required maxLength={100} autoComplete="off" />
        <Field
          label={t({ message: "Description", context: "of a tag" })}
          name="description"
          defaultValue={tag?.description}
          maxLength={500}
        />
      </Fields>
      {tag && (
        <Link className="link" to="/transactions" search={{ tag: tag.slug }}>
          <Trans>View transactions</Trans>
        </Link>
      )}
    </FormDialog>
  );
}
