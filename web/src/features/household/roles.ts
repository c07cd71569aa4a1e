import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Role } from "#/api/people";

/** The name of each role, and what it allows. */
const roles: Record<Role, { name: MessageDescriptor; may: MessageDescriptor }> = {
  admin: { name: msg`Admin`, may: msg`Full access, including members and API keys` },
  member: { name: msg`Member`, may: msg`Edit transactions, rules, imports and banks` },
  viewer: { name: msg`Viewer`, may: msg`View only` },
};

export const allRoles = Object.keys(roles) as Role[];
export const roleName = (role: Role) => i18n._(roles[role].name);
export const rolePermissions = (role: Role) =>
  t`${{ role: roleName(role) }}: ${{ permissions: i18n._(roles[role].may) }}`;
