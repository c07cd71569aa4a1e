import { t } from "@lingui/core/macro";
import { lazy, Suspense, useEffect } from "react";
import { loadTexts } from "#/lib/language";
import { overlay } from "#/lib/overlay";
import { Dialog } from "#/ui/Dialog";
import { pages } from "./navigation";

const load = async () => (await Promise.all([import("#/features/palette/PaletteResults"), loadTexts("palette")]))[0];
const PaletteResults = lazy(() => load().then((m) => ({ default: m.PaletteResults })));

/** The search dialog, which finds screens, records and actions. Ctrl+K or Cmd+K opens it. */
export function Palette() {
  const open = overlay.use() === "palette";
  useEffect(() => {
    const listen = (e: KeyboardEvent) => {
      // Loading starts with Ctrl or Cmd, before K is pressed, so that no typed letter is lost.
      if (e.key === "Control" || e.key === "Meta") void load();
      if ((e.metaKey || e.ctrlKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        overlay.set("palette");
      }
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
  return (
    <Dialog open={open} onClose={() => overlay.set(null)} title={t`Search`} wide>
      {open && (
        <Suspense>
          <PaletteResults pages={pages} />
        </Suspense>
      )}
    </Dialog>
  );
}
