import { t } from "@lingui/core/macro";
import { useEffect, useState, useSyncExternalStore } from "react";
import { Icon } from "./Icon";
import css from "./Toasts.module.css";
import { type Toast, toasts } from "./toasts";

/** For how many milliseconds a toast stays. A toast that asks for a decision stays longer. */
const life = (t: Toast) => (t.bad && t.undo ? 60_000 : 6000);

export function Toasts() {
  const list = useSyncExternalStore(toasts.listen, toasts.get);
  return (
    <section className={css.toasts} aria-label={t`Notifications`} aria-live="polite">
      {list.map((toast) => (
        <Line key={toast.id} toast={toast} />
      ))}
    </section>
  );
}

function Line({ toast }: { toast: Toast }) {
  const [stays, stay] = useState(false);
  useEffect(() => {
    if (stays) return;
    const timer = setTimeout(() => toasts.drop(toast.id), life(toast));
    return () => clearTimeout(timer);
  }, [stays, toast]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a toast that is looked at does not go
    <div
      className={css.toast}
      onMouseEnter={() => stay(true)}
      onMouseLeave={() => stay(false)}
      onFocus={() => stay(true)}
      onBlur={() => stay(false)}
    >
      <Icon name={toast.bad ? "warn" : "check"} />
      <span className="grow">
        {toast.text}
        {toast.times > 1 && ` (×${toast.times})`}
        {toast.note && <small>{toast.note}</small>}
      </span>
      {toast.undo && (
        <button
          type="button"
          onClick={() => {
            toasts.drop(toast.id);
            toast.undo?.();
          }}
        >
          {toast.label ?? t`Undo`}
        </button>
      )}
      <button type="button" aria-label={t`Close`} onClick={() => toasts.drop(toast.id)}>
        <Icon name="x" small />
      </button>
    </div>
  );
}
