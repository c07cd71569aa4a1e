import type { Role } from "#/api/people";

/** What each role is called, and may do. */
export const roles: Record<Role, { name: string; may: string }> = {
  admin: { name: "Admin", may: "changes everything, members and keys too" },
  member: { name: "Member", may: "changes payments, rules, files and banks" },
  viewer: { name: "Viewer", may: "looks and changes nothing" },
};
