import { t } from "@lingui/core/macro";
import { useBlocker } from "@tanstack/react-router";
import { FormDialog } from "#/parts/FormDialog";

/** Asks for confirmation before a person leaves a rule with unsaved edits. */
export function Leaving({ edited }: { edited: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    // When the session ends, the page leaves by itself and must not wait for an answer.
    enableBeforeUnload: false,
    disabled: !edited,
    withResolver: true,
  });
  if (status !== "blocked") return null;
  return (
    <FormDialog
      open
      onClose={reset}
      title={t`Discard changes?`}
      hint={t`Your edits to this rule aren’t saved.`}
      act={t`Discard`}
      fault
      onSubmit={proceed}
    />
  );
}
