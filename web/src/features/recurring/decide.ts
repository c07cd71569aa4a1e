import { t } from "@lingui/core/macro";
import { changeRecurring, type Recurring } from "#/api/recurring";
import { useAction } from "#/parts/useAction";
import { called } from "./words";

/** Confirms, dismisses, restores or renames a recurring payment. */
export const useDecide = (r: Pick<Recurring, "id" | "name" | "payee_name">) =>
  useAction({
    act: (v: { state?: Recurring["state"]; name?: string | null }) => changeRecurring({ id: r.id, ...v }),
    touches: ["recurring", "changes"],
    text: (_, v) =>
      v.state === "confirmed"
        ? t`${{ name: called(r) }} confirmed`
        : v.state === "dismissed"
          ? t`Dismissed. coffer won’t suggest it again`
          : v.state
            ? t({ message: "Restored", context: "a recurring payment" })
            : t`Renamed`,
    change: (x) => x.change,
  });
