import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { draftWaits } from "#/lib/drafts";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Button, Segments } from "#/ui/Button";
import { Search } from "#/ui/Field";
import { Page } from "#/ui/Page";
import { CategoryForm } from "./CategoryForm";
import { Payees } from "./Payees";
import { TagForm, Tags } from "./Tags";
import { Tree } from "./Tree";
import { Tsv } from "./Tsv";

const tabs = [
  ["categories", "Categories"],
  ["tags", "Tags"],
  ["payees", "Payees"],
] as const;

const makes = { categories: "Make a category", tags: "Make a tag", payees: null } as const;

/** What payments are filed under: categories, tags, and the payees that they went to. */
export function CategoriesPage() {
  const tab = useSearch({ from: "/categories" }).tab ?? "categories";
  const go = useNavigate({ from: "/categories" });
  const { write } = useCan();
  const [typed, setTyped] = useState("");
  const [adds, add] = useState(() => draftWaits("category") || draftWaits("tag"));
  const make = makes[tab];
  return (
    <>
      <Top title="Categories" sub="counts and sums of the last 12 months">
        {write && make && (
          <Button icon="plus" onClick={() => add(true)}>
            <span className="desk">{make}</span>
            <span className="phone">New</span>
          </Button>
        )}
      </Top>
      <Page>
        <LookOnly />
        <div className="row wrap">
          <Segments
            label="What"
            value={tab}
            options={tabs}
            onChange={(t) => {
              setTyped("");
              void go({ search: t === "categories" ? {} : { tab: t } });
            }}
          />
          <Search label="Find" value={typed} onChange={(e) => setTyped(e.target.value)} />
          {tab === "categories" && <Tsv write={write} />}
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
