import { t } from "@lingui/core/macro";
import { useNavigate } from "@tanstack/react-router";
import { recorded } from "#/api/changes";
import { ApiError } from "#/api/client";
import { applyRule, createRule, patchRule, type Rule } from "#/api/rules";
import { useAction } from "#/parts/useAction";
import { type Form, patchOf, specOf } from "./form";
import type { Names } from "./words";

type Draft = { form: Form; saved?: Rule; names: Names };

/** Saves a rule. With `apply`, it also starts to apply the rule to existing transactions. */
export function useSave({ form, saved, names }: Draft) {
  const go = useNavigate();
  return useAction({
    act: async (apply: boolean) => {
      const { id, change } = await save(form, saved, names);
      const job = apply ? await applyRule(id) : null;
      if (job) await go({ to: "/rules/$id", params: { id }, search: { job: job.id, saved: change ?? undefined } });
      else await go({ to: "/rules" });
      // The page of the application offers to undo both. A toast could undo only the rule.
      return { change: job ? null : change };
    },
    touches: ["rules", "changes", "tags"],
    text: (r) => (r.change ? (saved ? t`Rule saved` : t`Rule created`) : ""),
    change: (r) => r.change,
  });
}

async function save(form: Form, saved: Rule | undefined, names: Names): Promise<{ id: string; change: string | null }> {
  if (saved) {
    const patch = patchOf(form, saved);
    if (Object.keys(patch).length === 0) return { id: saved.id, change: null };
    return { id: saved.id, change: (await recorded(patchRule(saved.id, patch))).change };
  }
  const { data, change } = await recorded(createRule(specOf(form, names)));
  const made = data.rules[0];
  const fault = data.errors[0];
  if (!made) throw new ApiError(400, fault?.code ?? "UNKNOWN", fault?.message ?? t`couldn’t create the rule`);
  return { id: made.id, change };
}
