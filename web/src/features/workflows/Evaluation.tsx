import { Link } from "@tanstack/react-router";
import type { Evaluation as Result } from "#/api/workflows";
import { Shares } from "#/charts/Shares";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { Amount, Cost } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Fold, Table } from "#/ui/Lines";
import { Facts } from "#/ui/Page";
import { decidersOf, labelsOf, moods, ofHundred, previousOf, shareOf, tableOf } from "./measured";
import css from "./Workflows.module.css";

/** How well a workflow did on what people decided, beside what is reached without a model. */
export function Evaluation({ result: r }: { result: Result }) {
  const { name } = useCategories();
  const s = r.score;
  return (
    <>
      <Card title="How well it did">
        <div className={css.apart}>
          <Note mood={moods[r.verdict]}>{r.message}</Note>
          <Shares label="Right, of what each was sure about" deciders={decidersOf(r)} table={tableOf(r)} />
        </div>
      </Card>
      <Card title="In figures">
        <Facts
          facts={[
            ["Compared with", labelsOf(r)],
            ["Sure about", `${s.answered.toLocaleString("en")} of ${r.n.toLocaleString("en")}`],
            ["Right", `${s.right.toLocaleString("en")} of them, ${shareOf(s.accuracy)}`],
            ["Right group", shareOf(s.primary)],
            ["Wrong", ofHundred(s.wrong_per_100, "payments would be filed wrongly")],
            ["Harm", ofHundred(s.harm_per_100, "were right before and would be wrong")],
            ...r.money.map(
              (m) =>
                [
                  `Wrong in ${m.currency}`,
                  <span key={m.currency}>
                    <Amount value={cents(m.wrong)} currency={m.currency} /> of{" "}
                    <Amount value={cents(m.answered)} currency={m.currency} />
                  </span>,
                ] as const,
            ),
            [
              "A hundred took",
              <span key="took">
                <Cost usd={r.per_100.cost_usd} />, {r.per_100.seconds.toLocaleString("en")} s,{" "}
                {(r.per_100.input_tokens + r.per_100.output_tokens).toLocaleString("en")} tokens
              </span>,
            ],
            ...(r.previous
              ? [
                  [
                    "Since the last time",
                    <span key="previous">
                      {previousOf(r.previous)}{" "}
                      <Link className="link" to="/runs/$id" params={{ id: r.previous.run_id }}>
                        See it
                      </Link>
                    </span>,
                  ] as const,
                ]
              : []),
          ]}
        />
      </Card>
      <Card title="Where it was wrong" flush>
        {r.confusions.length === 0 ? (
          <p className={css.words}>Nowhere, as far as it was sure.</p>
        ) : (
          <Table
            label="Its most frequent mistakes"
            heads={["People chose", "It chose", "Times"]}
            num={[2]}
            rows={r.confusions.map((c) => ({
              key: `${c.right} ${c.wrong}`,
              cells: [name(c.right), name(c.wrong), c.times.toLocaleString("en")],
            }))}
          />
        )}
        {r.categories.length > 0 && (
          <Fold name="By category">
            <Table
              label="By the category that people chose"
              heads={["Category", "Payments", "Sure", "Right", "Wrong"]}
              num={[1, 2, 3, 4]}
              rows={r.categories.map((c) => ({
                key: c.slug,
                cells: [name(c.slug), ...[c.n, c.answered, c.right, c.wrong].map((n) => n.toLocaleString("en"))],
              }))}
            />
          </Fold>
        )}
      </Card>
    </>
  );
}
