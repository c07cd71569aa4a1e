import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type ErrorComponentProps, Link, useLocation } from "@tanstack/react-router";
import { ApiError } from "#/api/client";
import { PageHeader } from "#/parts/PageHeader";
import { Button } from "#/ui/Button";
import { Card, Empty } from "#/ui/Card";
import { Again } from "#/ui/Guard";
import { Page } from "#/ui/Page";
import { screenOf } from "./navigation";

const gone = /dynamically imported module|module script/i;

/** The error of a file of the app that could not be fetched. It is not a bug in the app. */
export class Unloaded extends Error {}

/** Replaces a page that failed to render. It says that the data is safe and what to do; the navigation stays. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const path = useLocation({ select: (l) => l.pathname });
  const here = screenOf(path);
  const unloaded = error instanceof Unloaded || (error instanceof Error && gone.test(error.message));
  const elsewhere =
    path === "/transactions"
      ? (["/", t`Go to overview`] as const)
      : (["/transactions", t`Go to transactions`] as const);
  return (
    <>
      <PageHeader title={here ? i18n._(here.name) : "coffer"} />
      <Page>
        <Card>
          <div role="alert">
            <Empty
              title={t`Couldn’t load this page`}
              action={
                <>
                  <span className="row wrap">
                    {unloaded ? (
                      <Button kind="filled" icon="sync" onClick={() => location.reload()}>
                        <Trans>Try again</Trans>
                      </Button>
                    ) : (
                      <Again error={error} again={reset} filled />
                    )}
                    <Link className="link" to={elsewhere[0]} search={{}}>
                      {elsewhere[1]}
                    </Link>
                  </span>
                  {error instanceof ApiError && error.request && (
                    <p className="small faint mono">
                      <Trans>request ID {{ id: error.request }}</Trans>
                    </p>
                  )}
                </>
              }
            >
              {unloaded
                ? t`Can’t reach the server. Your data is safe and nothing was changed.`
                : t`coffer ran into a problem on this page. Your data is safe and nothing was changed. The other pages still work.`}
            </Empty>
          </div>
        </Card>
      </Page>
    </>
  );
}

/** Replaces the whole app if the app failed to render. A plain link loads the app again. */
export function AppError() {
  return (
    <main>
      <Page>
        <Card>
          <Empty
            title={t`Couldn’t load coffer`}
            action={
              <a href="/">
                <Trans>Reload</Trans>
              </a>
            }
          >
            <Trans>Your data is safe and nothing was changed.</Trans>
          </Empty>
        </Card>
      </Page>
    </main>
  );
}

/** Replaces the page at an address that no screen has. */
export function NotFoundPage() {
  return (
    <>
      <PageHeader title={t`Page not found`} />
      <Page>
        <p className="dim">
          <Trans>
            Choose a page from the menu, or{" "}
            <Link className="link" to="/" search={{}}>
              open the overview
            </Link>
            .
          </Trans>
        </p>
      </Page>
    </>
  );
}
