import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Tab } from "#/parts/tabs";
import type { IconName } from "#/ui/icons";

/** The action of an entry that does not open a page. */
export type Act = "add" | "dark" | "light" | "system" | "amounts" | "keys" | "out";

export type Place = {
  name: MessageDescriptor;
  /** The words by which people look for the place, separated by commas. Each language has its own. */
  words: MessageDescriptor;
  icon: IconName;
  kind: "page" | "setting" | "action";
  /** Whether it is in the navigation, and in the list for an empty text. */
  main?: true;
  /** Who can use it; by default everyone. */
  for?: "writers" | "admins";
} & ({ to: Tab["to"]; search?: Record<string, string> } | { href: string } | { act: Act });

/** The results of the search other than screens: parts of screens, and actions. */
// biome-ignore format: a place in two lines
export const others = [
  { kind: "setting", for: "admins", to: "/settings", icon: "home", name: msg`General`,
    words: msg({ context: "search words", message: "household name, default currency, time zone, sync frequency, review settings, log retention" }) },
  { kind: "setting", to: "/settings/categories", search: { tab: "tags" }, icon: "tag", name: msg`Tags`,
    words: msg({ context: "search words", message: "labels, tag, hashtags, projects, new tag" }) },
  { kind: "setting", to: "/settings/categories", search: { tab: "payees" }, icon: "cart", name: msg`Payees`,
    words: msg({ context: "search words", message: "merchants, shops, stores, payee, merge payees, rename payee" }) },
  { kind: "action", for: "writers", act: "add", icon: "plus", name: msg`Add transaction`,
    words: msg({ context: "search words", message: "add, new transaction, enter, write down, cash purchase, manual transaction" }) },
  { kind: "action", for: "writers", to: "/accounts", icon: "bank", name: msg`Connect a bank`,
    words: msg({ context: "search words", message: "connect, link bank, add bank, add account, new account, reconnect, sync" }) },
  { kind: "action", href: "/account", icon: "lock", name: msg`Change password`,
    words: msg({ context: "search words", message: "password, passkey, passkeys, recovery codes, two-factor, security, sign-in" }) },
  { kind: "action", act: "dark", icon: "screen", name: msg`Dark theme`,
    words: msg({ context: "search words", message: "dark, dark mode, night, theme, appearance, colors, black" }) },
  { kind: "action", act: "light", icon: "screen", name: msg`Light theme`,
    words: msg({ context: "search words", message: "light, light mode, day, theme, appearance, bright, white" }) },
  { kind: "action", act: "system", icon: "screen", name: msg`System theme`,
    words: msg({ context: "search words", message: "theme, appearance, automatic theme, like the system" }) },
  { kind: "action", act: "amounts", icon: "eye", name: msg`Hide or show amounts`,
    words: msg({ context: "search words", message: "hide, privacy, private, blur, amounts, show amounts" }) },
  { kind: "action", act: "keys", icon: "info", name: msg`Keyboard shortcuts`,
    words: msg({ context: "search words", message: "shortcuts, keyboard, hotkeys, keys, help" }) },
  { kind: "action", href: "/docs", icon: "book", name: msg`API reference`,
    words: msg({ context: "search words", message: "api, documentation, developer, openapi, rest" }) },
  { kind: "action", act: "out", icon: "x", name: msg`Sign out`,
    words: msg({ context: "search words", message: "log out, logout, sign off, leave" }) },
] as const satisfies readonly Place[];
