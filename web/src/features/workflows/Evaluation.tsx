import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { Evaluation as Result } from "#/api/workflows";
import { Shares } from "#/charts/Shares";
import { cents } from "#/lib/money";
import { number } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { Amount, Cost } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Fold, Table } from "#/ui/Lines";
import { Facts } from "#/ui/Page";
import { decidersOf, harmOf, labelsOf, moods, previousOf, shareOf, tableOf, wrongOf } from "./measured";
import css from "./Workflows.module.css";
import { seconds } from "./words";

/** The result of an accuracy test: how often the workflow agreed with people, compared with methods without a model. */
export function Evaluation({ result: r }: { result: Result }) {
  const { name } = useCategories();
  const s = r.score;
  return (
    <>
      <Card title={t`Accuracy`}>
        <div className={css.apart}>
          <Note mood={moods[r.verdict]}>{r.message}</Note>
          <Shares label={t`Correct, among confident answers`} deciders={decidersOf(r)} table={tableOf(r)} />
        </div>
      </Card>
      <Card title={t`Details`}>
        <Facts
          facts={[
            [t`Compared with`, labelsOf(r)],
            [t`Confident`, t`${{ count: number(s.answered) }} of ${{ all: number(r.n) }}`],
            [
              t`Correct`,
              t`${{ count: number(s.right) }} of ${{ all: number(s.answered) }}, ${{ share: shareOf(s.accuracy) }}`,
            ],
            [t`Correct main category`, shareOf(s.primary)],
            [t`Incorrect`, wrongOf(s.wrong_per_100)],
            [t`Made worse`, harmOf(s.harm_per_100)],
            ...r.money.map(
              (m) =>
                [
                  t`Incorrect in ${{ currency: m.currency }}`,
                  <span key={m.currency}>
                    <Trans>
                      <Amount value={cents(m.wrong)} currency={m.currency} /> of{" "}
                      <Amount value={cents(m.answered)} currency={m.currency} />
                    </Trans>
                  </span>,
                ] as const,
            ),
            [
              t`Cost per 100`,
              <span key="took">
                <Cost usd={r.per_100.cost_usd} /> · {seconds(r.per_100.seconds)} ·{" "}
                {plural(r.per_100.input_tokens + r.per_100.output_tokens, { one: "# token", other: "# tokens" })}
              </span>,
            ],
            ...(r.previous
              ? [
                  [
                    t`Since last test`,
                    <span key="previous">
                      {previousOf(r.previous)}{" "}
                      <Link className="link" to="/runs/$id" params={{ id: r.previous.run_id }}>
                        <Trans>View</Trans>
                      </Link>
                    </span>,
                  ] as const,
                ]
              : []),
          ]}
        />
      </Card>
      <Card title={t`Mistakes`} flush>
        {r.confusions.length === 0 ? (
          <p className={css.words}>{t`None among confident answers.`}</p>
        ) : (
          <Table
            label={t`Most common mistakes`}
            heads={[t`You chose`, t`Model chose`, t`Count`]}
            num={[2]}
            rows={r.confusions.map((c) => ({
              key: `${c.right} ${c.wrong}`,
              cells: [name(c.right), name(c.wrong), number(c.times)],
            }))}
          />
        )}
        {r.categories.length > 0 && (
          <Fold name={t`By category`}>
            <Table
              label={t`By your category`}
              heads={[t`Category`, t`Transactions`, t`Confident`, t`Correct`, t`Incorrect`]}
              num={[1, 2, 3, 4]}
              rows={r.categories.map((c) => ({
                key: c.slug,
                cells: [name(c.slug), ...[c.n, c.answered, c.right, c.wrong].map(number)],
              }))}
            />
          </Fold>
        )}
      </Card>
    </>
  );
}
