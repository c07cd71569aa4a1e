import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useRef } from "react";
import css from "./Dialog.module.css";

/** A dialog over the page; on a phone, a sheet from below. Its title names the action. */
export function Dialog(p: {
  open: boolean;
  onClose: () => void;
  title: string;
  hint?: ReactNode;
  wide?: boolean;
  /**
   * Whether people read it from the top. Focus then starts at the dialog, because a focused button at the bottom would
   * scroll it down.
   */
  read?: boolean;
  children: ReactNode;
}) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={p.open} onOpenChange={(open) => !open && p.onClose()}>
      <Base.Portal>
        <Base.Backdrop className={css.scrim} />
        <Base.Popup
          ref={popup}
          className={`${css.dialog} ${p.wide ? css.wide : ""}`}
          initialFocus={p.read ? popup : undefined}
        >
          <span className={css.grabber} />
          <header className={css.head}>
            <Base.Title className={css.title}>{p.title}</Base.Title>
            {p.hint && <Base.Description className="dim">{p.hint}</Base.Description>}
          </header>
          {p.children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

export const DialogBody = ({ children }: { children: ReactNode }) => <div className={css.body}>{children}</div>;
export const DialogFoot = ({ children }: { children: ReactNode }) => <footer className={css.foot}>{children}</footer>;
