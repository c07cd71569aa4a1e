import { t } from "@lingui/core/macro";
import { Segments } from "#/ui/Button";

/** Which currency is shown, where there is more than one: they are never added up. */
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
