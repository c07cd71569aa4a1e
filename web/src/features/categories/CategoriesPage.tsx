import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { draftWaits } from "#/lib/drafts";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { Button, Segments } from "#/ui/Button";
import { Search } from "#/ui/Field";
import { Page } from "#/ui/Page";
import { CategoryForm } from "./CategoryForm";
import { Payees } from "./Payees";
import { TagForm, Tags } from "./Tags";
import { Tree } from "./Tree";
import { Tsv } from "./Tsv";

const tabs = () =>
  [
    ["categories", t`Categories`],
    ["tags", t`Tags`],
    ["payees", t`Payees`],
  ] as const;

const makes = { categories: msg`New category`, tags: msg`New tag`, payees: null } as const;

/** The categories, tags and payees of transactions. */
export function CategoriesPage() {
  const tab = useSearch({ from: "/settings/categories" }).tab ?? "categories";
  const go = useNavigate({ from: "/settings/categories" });
  const { write } = useCan();
  const [typed, setTyped] = useState("");
  const [adds, add] = useState(() => draftWaits("category") || draftWaits("tag"));
  const make = makes[tab];
  return (
    <>
      <PageHeader title={t`Settings`}>
        {write && make && (
          <Button icon="plus" onClick={() => add(true)}>
            <span className="desk">{i18n._(make)}</span>
            <span className="phone">
              <Trans context="a button">New</Trans>
            </span>
          </Button>
        )}
      </PageHeader>
      <Page>
        <LookOnly />
        <div className="row wrap">
          <Segments
            label={t`Show`}
            value={tab}
            options={tabs()}
            onChange={(chosen) => {
              setTyped("");
              void go({ search: chosen === "categories" ? {} : { tab: chosen } });
            }}
          />
          <Search label={t`Search`} value={typed} onChange={(e) => setTyped(e.target.value)} />
          {tab === "categories" && <Tsv write={write} />}
          <span className="small dim desk end">{t`last 12 months`}</span>
        </div>
        {tab === "categories" && <Tree typed={typed} write={write} />}
        {tab === "tags" && <Tags typed={typed} write={write} />}
        {tab === "payees" && <Payees typed={typed} write={write} />}
        {adds && tab === "categories" && <CategoryForm onClose={() => add(false)} />}
        {adds && tab === "tags" && <TagForm onClose={() => add(false)} />}
      </Page>
    </>
  );
}
