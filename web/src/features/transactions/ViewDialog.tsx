import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Filters } from "#/api/transactions";
import { createView, deleteView, patchView, type View, views } from "#/api/views";
import { showError } from "#/parts/edit";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Check, Note } from "#/ui/Form";
import { toasts } from "#/ui/toasts";

type Props = {
  /** The view that the list shows, or undefined. */
  view: View | undefined;
  filters: Filters;
  /** Filters of the view that the list of transactions does not support. */
  left: string[];
  onClose: () => void;
};

const contentOf = ({ name, shared, filters }: View) => ({ name, shared, filters });

/** Saves the filters of the list as a view, or changes the current view. */
export function ViewDialog({ view: shown, filters, left, onClose }: Props) {
  const client = useQueryClient();
  const go = useNavigate({ from: "/transactions" });
  const [view, setView] = useState(shown);
  const touches = views.queryKey;
  const unknown = left.join(", ");
  /** Shows a toast. The journal does not record views, so Undo runs the opposite action. */
  const done = (text: string, at: View | undefined, back: () => Promise<unknown>) => {
    const undo = async () => {
      try {
        await back();
        toasts.say({ text: t`Undone` });
      } catch (e) {
        showError(e);
      }
      await client.invalidateQueries({ queryKey: touches });
    };
    onClose();
    void go({ search: (s) => ({ ...s, view: at?.short_id }), replace: true, resetScroll: false });
    toasts.say({ text, undo: () => void undo() });
  };
  const save = useAction({
    act: (x: { name: string; shared: boolean }) =>
      view ? patchView(view.id, { ...x, ...(left.length ? {} : { filters }) }) : createView({ ...x, filters }),
    touches,
    quiet: true,
  });
  const drop = useAction({ act: (v: View) => deleteView(v.id), touches, quiet: true });
  return (
    <FormDialog
      key={view?.id}
      open
      wide={view !== undefined}
      onClose={onClose}
      title={view ? t`Edit view` : t`Save view`}
      hint={t`A saved view remembers these filters and always shows current results.`}
      act={view ? t`Update view` : t`Save view`}
      busy={save.isPending || drop.isPending}
      error={save.error ?? drop.error}
      onSubmit={(f) =>
        save.mutate(
          { name: f.text("name"), shared: f.has("shared") },
          {
            onSuccess: (v) =>
              view
                ? done(t`View “${{ name: v.name }}” updated`, v, () => patchView(v.id, contentOf(view)))
                : done(t`View “${{ name: v.name }}” saved`, v, () => deleteView(v.id)),
          },
        )
      }
      foot={
        view && (
          <>
            <Button
              kind="quiet"
              icon="trash"
              onClick={() =>
                drop.mutate(view, {
                  onSuccess: () =>
                    done(t`View “${{ name: view.name }}” deleted`, undefined, () => createView(contentOf(view))),
                })
              }
            >
              <Trans>Delete</Trans>
            </Button>
            <Button onClick={() => setView(undefined)}>
              <Trans>Save as new</Trans>
            </Button>
          </>
        )
      }
    >
      <Field label={t`View name`} name="name" required maxLength={100} autoComplete="off" defaultValue={view?.name} />
      <Check
        label={t`Shared`}
        hint={t`Everyone in the household can see it; anyone who can edit transactions can change it.`}
        name="shared"
        defaultChecked={view?.shared}
      />
      {view && left.length > 0 && (
        <Note>
          <Trans>It also filters by {unknown}, which isn’t available here. Those filters are kept.</Trans>
        </Note>
      )}
    </FormDialog>
  );
}
