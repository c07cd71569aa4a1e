import type { Rule } from "#/api/rules";

type Placed = Pick<Rule, "id" | "priority" | "created_at" | "is_system">;
export type Step = { id: string; priority: number };

const maxPriority = 1000;

const before = (a: Placed, b: Placed) =>
  a.priority - b.priority || a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id);

/**
 * The new priorities that move a rule one place up or down, or null if it cannot move. Rules with the same priority run
 * by age. So a move may change only this rule, or also rules after it. The built-in rule never moves.
 */
export function moved(rules: readonly Placed[], at: number, by: -1 | 1): Step[] | null {
  const to = at + by;
  const rule = rules[at];
  if (!rule || to < 0 || to >= rules.length) return null;
  const wanted = rules.toSpliced(at, 1).toSpliced(to, 0, rule);
  const low = wanted[to - 1]?.priority ?? 0;
  const high = wanted[to + 1]?.priority ?? Math.min(low + 1, maxPriority);
  if (!rule.is_system)
    for (const priority of by < 0 ? range(high, low) : range(low, high))
      if (sorted(wanted.map((r) => (r === rule ? { ...r, priority } : r)))) return [{ id: rule.id, priority }];
  return pushed(wanted, rule, by < 0 ? high : low);
}

/** Puts the rule at its new place, and raises the priorities of rules after it only if necessary. */
function pushed(wanted: readonly Placed[], rule: Placed, priority: number): Step[] | null {
  const steps: Step[] = [];
  let last: Placed | undefined;
  for (const r of wanted) {
    let now = r === rule ? { ...r, priority } : r;
    if (last && before(last, now) > 0) now = { ...now, priority: last.priority };
    if (last && before(last, now) > 0) now = { ...now, priority: last.priority + 1 };
    if (now.priority !== r.priority) {
      if (r.is_system || now.priority > maxPriority) return null;
      steps.push({ id: r.id, priority: now.priority });
    }
    last = now;
  }
  return steps;
}

const sorted = (rules: readonly Placed[]) => rules.every((r, i) => i === 0 || before(rules[i - 1] as Placed, r) < 0);

function range(from: number, to: number): number[] {
  const step = from <= to ? 1 : -1;
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, i) => from + i * step);
}
