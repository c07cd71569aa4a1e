import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Filters } from "#/api/transactions";
import { createView, deleteView, patchView, type View, views } from "#/api/views";
import { useDeed } from "#/parts/deed";
import { sorry } from "#/parts/edit";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Check, Note } from "#/ui/Form";
import { toasts } from "#/ui/toasts";

type Props = {
  /** The view that the list shows, unless it shows none. */
  view: View | undefined;
  filters: Filters;
  /** What the view filters by and the list cannot. */
  left: string[];
  onClose: () => void;
};

const whole = ({ name, shared, filters }: View) => ({ name, shared, filters });

/** Saves the filters of the list under a name, or changes the view that it shows. */
export function ViewDialog({ view: shown, filters, left, onClose }: Props) {
  const client = useQueryClient();
  const go = useNavigate({ from: "/transactions" });
  const [view, setView] = useState(shown);
  const touches = views.queryKey;
  /** Says what was done. Nothing records views, so the way back is the opposite deed. */
  const done = (text: string, at: View | undefined, back: () => Promise<unknown>) => {
    const undo = async () => {
      try {
        await back();
        toasts.say({ text: "Undone" });
      } catch (e) {
        sorry(e);
      }
      await client.invalidateQueries({ queryKey: touches });
    };
    onClose();
    void go({ search: (s) => ({ ...s, view: at?.short_id }), replace: true, resetScroll: false });
    toasts.say({ text, undo: () => void undo() });
  };
  const save = useDeed({
    act: (x: { name: string; shared: boolean }) =>
      view ? patchView(view.id, { ...x, ...(left.length ? {} : { filters }) }) : createView({ ...x, filters }),
    touches,
    quiet: true,
  });
  const drop = useDeed({ act: (v: View) => deleteView(v.id), touches, quiet: true });
  return (
    <FormDialog
      key={view?.id}
      open
      wide={view !== undefined}
      onClose={onClose}
      title={view ? "Change this view" : "Save as a view"}
      hint="A view keeps these filters, and shows whatever matches them on the day."
      act={view ? "Update the view" : "Save the view"}
      busy={save.isPending || drop.isPending}
      error={save.error ?? drop.error}
      onSubmit={(f) =>
        save.mutate(
          { name: f.text("name"), shared: f.has("shared") },
          {
            onSuccess: (v) =>
              view
                ? done(`Updated the view ${v.name}`, v, () => patchView(v.id, whole(view)))
                : done(`Saved the view ${v.name}`, v, () => deleteView(v.id)),
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
                  onSuccess: () => done(`Deleted the view ${view.name}`, undefined, () => createView(whole(view))),
                })
              }
            >
              Delete
            </Button>
            <Button onClick={() => setView(undefined)}>Save as another</Button>
          </>
        )
      }
    >
      <Field
        label="Name of the view"
        name="name"
        required
        maxLength={100}
        autoComplete="off"
        defaultValue={view?.name}
      />
      <Check
        label="Shared"
        hint="Everyone in the household sees it, and whoever may change payments can change it."
        name="shared"
        defaultChecked={view?.shared}
      />
      {view && left.length > 0 && (
        <Note>It also filters by {left.join(", ")}, which this list does not know. Its filters stay as they are.</Note>
      )}
    </FormDialog>
  );
}
