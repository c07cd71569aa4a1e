import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { statements } from "./accepted";

it("takes the same files from other apps as from the picker, by name and by type", () => {
  const file = readFileSync(new URL("../../../public/manifest.webmanifest", import.meta.url), "utf8");
  const manifest = JSON.parse(file) as { share_target: { params: { files: { accept: string[] }[] } } };
  const accept = manifest.share_target.params.files[0]?.accept ?? [];
  const names = (all: string[]) => all.filter((x) => x.startsWith(".")).sort();
  expect(names(accept)).toEqual(names(statements.split(",")));
  // Android knows only the type of a shared file. MT940 has no type of its own.
  for (const type of [
    "text/csv",
    "text/plain",
    "application/xml",
    "application/zip",
    "application/x-ofx",
    "application/vnd.intu.qfx",
    "application/vnd.intu.qbo",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/octet-stream",
  ])
    expect(accept).toContain(type);
});
