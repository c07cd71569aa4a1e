import { t } from "@lingui/core/macro";
import { Segments } from "#/ui/Button";

/** Lets a person choose the currency to show, if there are several. Amounts in different currencies are never added. */
export function Currencies({
  value,
  all,
  onChange,
}: {
  value: string;
  all: readonly string[];
  onChange: (v: string) => void;
}) {
  if (all.length < 2) return null;
  return <Segments label={t`Currency`} value={value} options={all.map((c) => [c, c] as const)} onChange={onChange} />;
}
