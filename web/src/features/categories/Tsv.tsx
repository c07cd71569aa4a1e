import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useRef, useState } from "react";
import { exportCategories, importCategories } from "#/api/filing";
import { saveText } from "#/lib/save";
import { showError } from "#/parts/edit";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Note } from "#/ui/Form";
import { Facts } from "#/ui/Page";

const touches = ["categories", "transactions", "overview", "changes"];

/** Exports the categories as a table for spreadsheets, and imports such a table. */
export function Tsv({ write }: { write: boolean }) {
  const file = useRef<HTMLInputElement>(null);
  const [text, setText] = useState<string | null>(null);
  const look = useAction({ act: importCategories, touches: [] });
  const take = useAction({
    act: importCategories,
    touches,
    text: (r) =>
      t`${{ created: r.created }} created, ${{ updated: r.updated }} updated, ${{ merged: r.merged }} merged`,
    change: (r) => r.change_id,
    quiet: true,
  });
  const read = async (chosen: File | undefined) => {
    if (!chosen) return;
    const words = await chosen.text();
    setText(words);
    look.mutate({ text: words, dry_run: true });
  };
  const close = () => {
    setText(null);
    if (file.current) file.current.value = "";
  };
  const preview = look.data;
  return (
    <span className="row wrap end">
      <Button
        kind="quiet"
        icon="download"
        onClick={() => void exportCategories().then((tsv) => saveText("categories.tsv", tsv), showError)}
      >
        <Trans>Export TSV</Trans>
      </Button>
      {write && (
        <>
          <Button kind="quiet" icon="upload" onClick={() => file.current?.click()}>
            <Trans>Import TSV</Trans>
          </Button>
          <input
            ref={file}
            type="file"
            hidden
            aria-label={t`TSV file`}
            accept=".tsv,.txt,text/tab-separated-values"
            onChange={(e) => void read(e.target.files?.[0])}
          />
        </>
      )}
      <FormDialog
        open={text !== null && preview !== undefined}
        onClose={close}
        title={t`Import categories?`}
        hint={t`Preview of what this file would change.`}
        act={t({ message: "Import", context: "a button" })}
        busy={take.isPending || !preview || preview.created + preview.updated + preview.merged === 0}
        error={take.error}
        onSubmit={() => text !== null && take.mutate({ text, dry_run: false }, { onSuccess: close })}
      >
        {preview && (
          <Facts
            facts={[
              [t({ message: "New", context: "a count" }), preview.created],
              [t`Updated`, preview.updated],
              [t`Merged`, preview.merged],
              [t`Unchanged`, preview.unchanged],
            ]}
          />
        )}
        {preview && preview.errors.length > 0 && (
          <Note mood="warn">
            <div>
              {preview.errors.slice(0, 10).map((e) => (
                <p key={`${e.line} ${e.message}`}>
                  <Trans>
                    Line {{ line: e.line }}: {{ message: e.message }}
                  </Trans>
                </p>
              ))}
            </div>
          </Note>
        )}
      </FormDialog>
    </span>
  );
}
