import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { changeHousehold, household } from "#/api/settings";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields, Select } from "#/ui/Form";
import { Facts } from "#/ui/Page";

const same = (all: readonly string[]) => all.map((x) => [x, x.replaceAll("_", " ")] as const);
const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** The currencies that the browser knows, by code and name. */
function currencies(): (readonly [string, string])[] {
  const name = new Intl.DisplayNames(i18n.locale, { type: "currency" });
  return Intl.supportedValuesOf("currency").map((c) => [c, `${c}, ${name.of(c) ?? c}`] as const);
}

const history = () =>
  [
    ["all", t`All transactions, including history`],
    ["from_link", t`Only from the day an account is added`],
  ] as const;

/** Settings to choose before the first transaction: currency, time zone, and what to review. */
export function Begin({ may }: { may: boolean }) {
  const { data } = useQuery(household);
  const save = useAction({
    act: (f: FormData) =>
      changeHousehold({
        default_currency: String(f.get("currency")),
        time_zone: String(f.get("zone")),
        review_history: f.get("history") === "all" ? "all" : "from_link",
      }),
    touches: ["settings", "overview"],
    text: t`Saved`,
    reauth: true,
  });
  if (!data) return null;
  const zone = data.time_zone === "UTC" ? here() : data.time_zone;
  const zones = Intl.supportedValuesOf("timeZone");
  if (!may)
    return (
      <Card title={t`Household basics`}>
        <Facts
          facts={[
            [t`Currency`, data.default_currency],
            [t`Time zone`, data.time_zone.replaceAll("_", " ")],
          ]}
        />
      </Card>
    );
  return (
    <Card title={t`Before you start`}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          save.mutate(new FormData(e.currentTarget));
        }}
      >
        <Fields>
          <Fields wide>
            <Select
              label={t`Currency`}
              name="currency"
              hint={t`Used when a bank or file doesn’t say`}
              defaultValue={data.default_currency}
              options={currencies()}
            />
            <Select
              label={t`Time zone`}
              name="zone"
              hint={t`Sets when a day starts`}
              defaultValue={zone}
              options={same(zones.includes(zone) ? zones : [zone, ...zones])}
            />
            <Select
              label={t`Review`}
              name="history"
              hint={t`What goes to Review when you connect a bank or import a statement`}
              defaultValue={data.review_history}
              options={history()}
            />
          </Fields>
          <span>
            <Button type="submit" disabled={save.isPending}>
              <Trans>Save</Trans>
            </Button>
          </span>
        </Fields>
      </form>
    </Card>
  );
}
