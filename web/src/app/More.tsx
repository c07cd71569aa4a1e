import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { session } from "#/api/session";
import { theme } from "#/lib/kept";
import { overlay } from "#/lib/overlay";
import { Button, Segments } from "#/ui/Button";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { Icon } from "#/ui/Icon";
import css from "./More.module.css";
import { screensFor } from "./screens";

const themes = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

/** What is about oneself and this browser, and the way to the pages beside the app. */
export function More() {
  const { data } = useQuery(session);
  const look = theme.use();
  const open = overlay.use() === "more";
  return (
    <Dialog open={open} onClose={() => overlay.set(null)} title={data?.user?.name ?? "You"} hint={data?.user?.email}>
      <DialogBody>
        <div className={css.line}>
          <span>Colours</span>
          <Segments label="Colours" value={look} options={themes} onChange={theme.set} />
        </div>
        <ul className={css.links}>
          {screensFor(data?.user?.role)
            .filter((s) => !s.bar)
            .map((s) => (
              <li key={s.to} className="phone">
                <Link to={s.to} search={{}} onClick={() => overlay.set(null)}>
                  <span>
                    <Icon name={s.icon} /> {s.name}
                  </span>
                </Link>
              </li>
            ))}
          <li>
            <button type="button" onClick={() => overlay.set("palette")}>
              Search or go to <kbd>Ctrl K</kbd>
            </button>
          </li>
          <li>
            <Link to="/me" onClick={() => overlay.set(null)}>
              You: ways to sign in, sessions, assistants
            </Link>
          </li>
          <li>
            <a href="/docs">The API</a>
          </li>
          <li className="desk">
            <button type="button" onClick={() => overlay.set("keys")}>
              Keys <kbd>?</kbd>
            </button>
          </li>
          <li>
            <form method="post" action="/logout">
              <button type="submit">Sign out</button>
            </form>
          </li>
        </ul>
      </DialogBody>
      <DialogFoot>
        <Button kind="filled" onClick={() => overlay.set(null)}>
          Done
        </Button>
      </DialogFoot>
    </Dialog>
  );
}
