import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { institutions, type RemoteProvider } from "#/api/providers";
import { locale } from "#/lib/locale";
import { Button } from "#/ui/Button";
import { Dialog, DialogBody } from "#/ui/Dialog";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { linkBank } from "./banks";
import { Refused } from "./FormDialog";

/** Lets a person choose the bank in the provider's list, by country and name. */
export function ChooseBank({
  offer,
  path,
  onClose,
}: {
  offer: RemoteProvider;
  path: string | undefined;
  onClose: () => void;
}) {
  const names = new Intl.DisplayNames(locale, { type: "region" });
  const { compare } = new Intl.Collator(locale);
  const countries = offer.countries
    .map((code) => [code, names.of(code) ?? code] as const)
    .sort(([, a], [, b]) => compare(a, b));
  const near = new Intl.Locale(navigator.language).region ?? "";
  const [country, setCountry] = useState(offer.countries.includes(near) ? near : "");
  const [typed, type] = useState("");
  const search = useDeferredValue(typed.trim());
  const { data, error } = useQuery(institutions(offer.name, country, search));
  const more = data ? data.total - data.institutions.length : 0;
  const called = offer.title;
  return (
    <Dialog open onClose={onClose} title={t`Connect with ${called}`}>
      <DialogBody>
        <Fields>
          <Select
            label={t`Country`}
            options={country ? countries : [["", ""], ...countries]}
            value={country}
            onChange={(e) => setCountry(e.target.value)}
          />
          {country && (
            <Field
              label={t`Bank`}
              type="search"
              value={typed}
              onChange={(e) => type(e.target.value)}
              autoComplete="off"
            />
          )}
          <Refused error={error} />
          {country &&
            data?.institutions.map((b) => (
              <Button key={b.id} icon="bank" onClick={() => void linkBank(offer.name, path, b.id)}>
                {b.name}
              </Button>
            ))}
          {country && data?.total === 0 && (
            <p className="small dim">
              <Trans>No bank with this name.</Trans>
            </p>
          )}
          {country && more > 0 && (
            <p className="small dim">
              <Plural
                value={more}
                one="# more bank. Type a part of its name."
                other="# more banks. Type a part of the name."
              />
            </p>
          )}
        </Fields>
      </DialogBody>
    </Dialog>
  );
}
