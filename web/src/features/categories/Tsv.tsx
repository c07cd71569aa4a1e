import { useRef, useState } from "react";
import { exportCategories, importCategories } from "#/api/filing";
import { saveText } from "#/lib/save";
import { useDeed } from "#/parts/deed";
import { sorry } from "#/parts/edit";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Note } from "#/ui/Form";
import { Facts } from "#/ui/Page";

const touches = ["categories", "transactions", "overview", "changes"];

/** The categories as a table for a spreadsheet: out, edited, and in again. */
export function Tsv({ write }: { write: boolean }) {
  const file = useRef<HTMLInputElement>(null);
  const [text, setText] = useState<string | null>(null);
  const look = useDeed({ act: importCategories, touches: [] });
  const take = useDeed({
    act: importCategories,
    touches,
    said: (r) => `${r.created} made, ${r.updated} changed, ${r.merged} merged`,
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
  const seen = look.data;
  return (
    <span className="row wrap end">
      <Button
        kind="quiet"
        icon="download"
        onClick={() => void exportCategories().then((t) => saveText("categories.tsv", t), sorry)}
      >
        Save as TSV
      </Button>
      {write && (
        <>
          <Button kind="quiet" icon="upload" onClick={() => file.current?.click()}>
            Bring in a TSV
          </Button>
          <input
            ref={file}
            type="file"
            hidden
            aria-label="TSV file"
            accept=".tsv,.txt,text/tab-separated-values"
            onChange={(e) => void read(e.target.files?.[0])}
          />
        </>
      )}
      <FormDialog
        open={text !== null && seen !== undefined}
        onClose={close}
        title="Bring in these categories?"
        hint="Nothing is changed yet. This is what the file would do."
        act="Bring them in"
        busy={take.isPending || !seen || seen.created + seen.updated + seen.merged === 0}
        error={take.error}
        onSubmit={() => text !== null && take.mutate({ text, dry_run: false }, { onSuccess: close })}
      >
        {seen && (
          <Facts
            facts={[
              ["New", seen.created],
              ["Changed", seen.updated],
              ["Merged", seen.merged],
              ["As they are", seen.unchanged],
            ]}
          />
        )}
        {seen && seen.errors.length > 0 && (
          <Note mood="warn">
            <div>
              {seen.errors.slice(0, 10).map((e) => (
                <p key={`${e.line} ${e.message}`}>
                  Line {e.line}: {e.message}
                </p>
              ))}
            </div>
          </Note>
        )}
      </FormDialog>
    </span>
  );
}
