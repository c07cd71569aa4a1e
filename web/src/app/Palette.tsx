import { t } from "@lingui/core/macro";
import { lazy, Suspense, useEffect } from "react";
import { loadTexts } from "#/lib/language";
import { overlay } from "#/lib/overlay";
import { Dialog } from "#/ui/Dialog";

const load = async () => (await Promise.all([import("#/features/palette/Ways"), loadTexts("palette")]))[0];
const Ways = lazy(() => load().then((m) => ({ default: m.Ways })));

/** One field that leads anywhere. */
export function Palette() {
  const open = overlay.use() === "palette";
  useEffect(() => {
    const listen = (e: KeyboardEvent) => {
      // Its script is on its way while K is still to come, so that no letter of what is typed is lost.
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
          <Ways />
        </Suspense>
      )}
    </Dialog>
  );
}
