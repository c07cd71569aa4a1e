import { expect, it } from "vitest";
import { fileQuery } from "./files";

// The server's tests send the same query.
const sent = import.meta.glob<string>("../../../internal/app/testdata/statements/07-two-accounts.query", {
  query: "?raw",
  import: "default",
  eager: true,
});

it("sends each account of a file as a value of its own", () => {
  const query = fileQuery({
    encoding: "",
    account_id: undefined,
    accounts: [
      { key: "bank 021000021 111", create: { name: "Checking" } },
      { key: "card 222", skip: true },
    ],
    file_name: "07-two-accounts.ofx",
  });
  expect(`${query}\n`).toBe(Object.values(sent)[0]);
  expect(fileQuery({ mapping: { date: 0 }, header_row: null, include_likely_duplicates: undefined })).toBe(
    "mapping=%7B%22date%22%3A0%7D&header_row=null",
  );
});
