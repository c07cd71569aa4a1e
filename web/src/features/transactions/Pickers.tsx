import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { memo, type SubmitEvent, useState } from "react";
import { counterparties, createCounterparty } from "#/api/counterparties";
import { tags } from "#/api/tags";
import { useCategories } from "#/parts/categories";
import { showError } from "#/parts/edit";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { Area } from "#/ui/Form";
import { PickerAt } from "#/ui/Picker";
import { type BulkChange, comment, fileUnder, payTo, slugOf, tagWith } from "./bulkChange";

export type What = "category" | "tag" | "payee" | "comment";
/** The field to set, the element at which the picker opens, and the categories that the transactions had then. */
export type Asking = { what: What; at: Element; shown?: ReadonlyMap<string, string | null> };

/** The pickers for the category, tag, payee or comment of the current or selected transactions. */
export const Pickers = memo(function Pickers({
  asking,
  onClose,
  onChange,
}: {
  asking: Asking | null;
  onClose: () => void;
  onChange: (d: BulkChange, shown: Asking["shown"]) => void;
}) {
  const client = useQueryClient();
  const { choices } = useCategories();
  const labels = useQuery({ ...tags, enabled: asking?.what === "tag" });
  const payees = useQuery({ ...counterparties, enabled: asking?.what === "payee" });
  const [words, setWords] = useState("");
  const anchor = (what: What) => (asking?.what === what ? asking.at : null);
  const does = (d: BulkChange) => {
    onClose();
    onChange(d, asking?.shown);
  };
  const made = async (name: string) => {
    onClose();
    try {
      const c = await createCounterparty(name);
      void client.invalidateQueries({ queryKey: counterparties.queryKey });
      onChange(payTo(c.id, c.name), undefined);
    } catch (e) {
      showError(e);
    }
  };
  const submit = (e: SubmitEvent<HTMLFormElement>) => {
    e.preventDefault();
    if (!words.trim()) return;
    setWords("");
    does(comment(words.trim()));
  };
  return (
    <>
      <PickerAt
        label={t`Choose category`}
        choices={choices}
        anchor={anchor("category")}
        onClose={onClose}
        onPick={(c) => does(fileUnder(c.value, c.label))}
      />
      <PickerAt
        label={t`Add tag`}
        choices={(labels.data ?? [])
          .filter((tag) => tag.slug !== "needs-review")
          .map(({ slug, name }) => ({ value: slug, label: slug, hint: name === slug ? undefined : name }))}
        anchor={anchor("tag")}
        onClose={onClose}
        onPick={(c) => does(tagWith(c.value))}
        onMake={(typed) => does(tagWith(slugOf(typed)))}
      />
      <PickerAt
        label={t`Choose payee`}
        choices={(payees.data ?? []).map((c) => ({ value: c.id, label: c.name }))}
        anchor={anchor("payee")}
        onClose={onClose}
        onPick={(c) => does(payTo(c.value, c.label))}
        onMake={(typed) => void made(typed)}
      />
      <Dialog open={asking?.what === "comment"} onClose={onClose} title={t`Add comment`}>
        <form onSubmit={submit}>
          <DialogBody>
            <Area label={t`Comment`} value={words} onChange={(e) => setWords(e.target.value)} />
          </DialogBody>
          <DialogFoot>
            <Button kind="filled" type="submit" disabled={!words.trim()}>
              <Trans>Add comment</Trans>
            </Button>
            <Button kind="quiet" onClick={onClose}>
              <Trans>Cancel</Trans>
            </Button>
          </DialogFoot>
        </form>
      </Dialog>
    </>
  );
});
