import type { MessageDescriptor } from "@lingui/core";
import type { LinkProps } from "@tanstack/react-router";
import { createContext } from "react";
import type { Overview } from "#/api/overview";

export type Tab = {
  to: Exclude<NonNullable<LinkProps["to"]>, `${string}$${string}`>;
  name: MessageDescriptor;
  for?: "admins";
  /** How many things to do the tab's screen has. */
  waits?: (o: Overview) => number;
};

/** The tabs at a path. The app provides them from its list of screens. */
export const TabsAt = createContext<(path: string) => readonly Tab[]>(() => []);
