import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { session } from "#/api/session";
import { overlay } from "#/lib/overlay";
import { PageHeader } from "#/parts/PageHeader";
import { Card } from "#/ui/Card";
import { Icon } from "#/ui/Icon";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { Count, Face, useCounts } from "./Count";
import css from "./More.module.css";
import { parts } from "./navigation";

/** The screens that do not fit in the navigation bar of a phone, under the headings of the navigation. */
export function MorePage() {
  const name = useQuery(session).data?.user?.name;
  const counts = useCounts();
  const chev = <Icon name="chev" small />;
  return (
    <>
      <PageHeader title={t`More`} />
      <Page>
        <div className={css.more}>
          <button type="button" className={css.search} onClick={() => overlay.set("palette")}>
            <Icon name="search" />
            <Trans>Search</Trans>
          </button>
          {parts.map((p) => (
            <section key={p.part}>
              {p.title && <h2>{i18n._(p.title)}</h2>}
              <Card flush>
                <Lines>
                  {p.screens
                    .filter((s) => !s.bar)
                    .map((s) => (
                      <Item
                        key={s.to}
                        mark={<Icon name={s.icon} />}
                        name={i18n._(s.name)}
                        open={(words) => (
                          <Link to={s.to} search={{}}>
                            {words}
                          </Link>
                        )}
                        end={
                          <>
                            <Count n={counts[s.to] ?? 0} />
                            {chev}
                          </>
                        }
                      />
                    ))}
                  {p.part === "own" && (
                    <Item
                      mark={<Face name={name} />}
                      name={<bdi>{name ?? t`You`}</bdi>}
                      open={(words) => <Link to="/me">{words}</Link>}
                      end={chev}
                    />
                  )}
                </Lines>
              </Card>
            </section>
          ))}
        </div>
      </Page>
    </>
  );
}
