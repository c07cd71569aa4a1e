import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { changePreferences } from "#/api/me";
import { session } from "#/api/session";
import { household } from "#/api/settings";
import { choose, languages } from "#/lib/language";
import { adopt, type Reader } from "#/lib/reader";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Fields, Select } from "#/ui/Form";
import { example, ownName, regions } from "./regions";

const stored = (key: string) => localStorage.getItem(key) ?? "";

/** The member's language and region. They apply in every browser. */
export function Formats() {
  const me = useQuery(session).data?.user?.id;
  const currency = useQuery(household).data?.default_currency ?? "EUR";
  const [language, setLanguage] = useState(() => stored("language"));
  const [region, setRegion] = useState(() => stored("region"));
  const save = useAction({
    act: async (r: Reader) => {
      await changePreferences(r);
      return r;
    },
    touches: [],
    text: t`Saved`,
  });
  const own = [["", t`Same as this browser`]] as const;
  const { date, amount, weekday } = example(
    choose(language || null, navigator.languages),
    region,
    currency,
    new Date(),
  );
  return (
    <Card title={t`Language and region`}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (me)
            save.mutate(
              { language, region },
              { onSuccess: (r) => adopt(me, r) && location.reload() }, // everything on the screen changes
            );
        }}
      >
        <Fields>
          <Fields wide>
            <Select
              label={t`Language`}
              value={language}
              onChange={(e) => setLanguage(e.target.value)}
              options={[...own, ...languages.map((l) => [l, ownName(l)] as const)]}
            />
            <Select
              label={t`Region`}
              value={region}
              onChange={(e) => setRegion(e.target.value)}
              options={[...own, ...regions()]}
              hint={t`Sets how dates, numbers and weeks look.`}
            />
          </Fields>
          <p className="small dim" role="status">
            <Trans>
              Example: {date}, {amount}, weeks start on {weekday}
            </Trans>
          </p>
          <span>
            <Button type="submit" disabled={save.isPending || !me}>
              <Trans>Save</Trans>
            </Button>
          </span>
        </Fields>
      </form>
    </Card>
  );
}
