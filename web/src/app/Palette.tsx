import { lazy, Suspense, useEffect } from "react";
import { overlay } from "#/lib/overlay";
import { Dialog } from "#/ui/Dialog";

const load = () => import("./Ways");
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
    <Dialog open={open} onClose={() => overlay.set(null)} title="Search or go to" wide>
      {open && (
        <Suspense>
          <Ways />
        </Suspense>
      )}
    </Dialog>
  );
}
