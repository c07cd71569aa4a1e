import { useQuery } from "@tanstack/react-query";
import { changeHousehold, household } from "#/api/settings";
import { useDeed } from "#/parts/deed";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields, Select } from "#/ui/Form";
import { Facts } from "#/ui/Page";

const same = (all: readonly string[]) => all.map((x) => [x, x.replaceAll("_", " ")] as const);
const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** Currencies by their code and name. */
function currencies(): (readonly [string, string])[] {
  const name = new Intl.DisplayNames("en", { type: "currency" });
  return Intl.supportedValuesOf("currency").map((c) => [c, `${c}, ${name.of(c) ?? c}`] as const);
}

const history = [
  ["from_link", "Only what comes from now on"],
  ["all", "Everything, also what is years old"],
] as const;

/** What a household should know before its first payment: currency, time zone, and what to review. */
export function Begin({ may }: { may: boolean }) {
  const { data } = useQuery(household);
  const save = useDeed({
    act: (f: FormData) =>
      changeHousehold({
        default_currency: String(f.get("currency")),
        time_zone: String(f.get("zone")),
        review_history: f.get("history") === "all" ? "all" : "from_link",
      }),
    touches: ["settings", "overview"],
    said: "Saved",
    proof: true,
  });
  if (!data) return null;
  const zone = data.time_zone === "UTC" ? here() : data.time_zone;
  const zones = Intl.supportedValuesOf("timeZone");
  if (!may)
    return (
      <Card title="How the household counts">
        <Facts
          facts={[
            ["Currency", data.default_currency],
            ["Time zone", data.time_zone.replaceAll("_", " ")],
          ]}
        />
      </Card>
    );
  return (
    <Card title="Before you begin">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          save.mutate(new FormData(e.currentTarget));
        }}
      >
        <Fields>
          <Fields wide>
            <Select
              label="Currency"
              name="currency"
              hint="For accounts whose bank or file does not say"
              defaultValue={data.default_currency}
              options={currencies()}
            />
            <Select
              label="Time zone"
              name="zone"
              hint="Decides when a day begins"
              defaultValue={zone}
              options={same(zones.includes(zone) ? zones : [zone, ...zones])}
            />
            <Select
              label="Review"
              name="history"
              hint="What waits for a look after a bank is linked"
              defaultValue="from_link"
              options={history}
            />
          </Fields>
          <span>
            <Button type="submit" disabled={save.isPending}>
              Save
            </Button>
          </span>
        </Fields>
      </form>
    </Card>
  );
}
