package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"coffer/internal/platform/pg"
)

// next returns the next call: a step of the revert tests, a call that those tests leave out, or a
// read.
func (r *rehearsalRun) next(ctx context.Context) revertStep {
	dice := r.dice
	pick := func(sql string) string {
		ids, err := pg.Values[string](ctx, r.from, sql)
		if err != nil || len(ids) == 0 {
			return "none"
		}
		return ids[dice.IntN(len(ids))]
	}
	switch n := dice.IntN(20); n {
	case 0:
		return revertStep{op: "rule.create", args: map[string]any{"rules": []any{r.rule(dice)}}}
	case 1:
		args := r.rule(dice)
		delete(args, "actions")
		args["id"] = pick(`select id::text from rule where name like 's000-%' and deleted_at is null
			order by name, created_at`)
		args["category_slug"] = r.category()
		return revertStep{op: "rule.update", args: args}
	case 2:
		return revertStep{op: "rule.delete", args: map[string]any{"id": pick(`select id::text from rule
			where name like 's000-%' and deleted_at is null order by name, created_at`)}}
	case 3:
		return revertStep{op: "report.create", args: map[string]any{
			"title": fmt.Sprint("s000-report ", dice.IntN(3)), "body": "x", "kind": "summary",
		}}
	case 4:
		return revertStep{op: "report.delete", args: map[string]any{"id": pick(`select id::text from report
			where deleted_at is null order by title, created_at`)}}
	case 5, 6:
		return revertStep{op: "account-link.update", args: map[string]any{
			"id": pick(linksInOrder), "confidence": r.one("confirmed", "rejected"), "force": dice.IntN(2) == 0,
			"kind": r.one("mirror", "transfer"),
		}}
	case 7:
		return revertStep{op: r.one("account-link.create"), args: map[string]any{
			"primary_account_id": pick(`select id::text from account order by provider_id`),
			"mirror_account_id":  pick(`select id::text from account order by provider_id desc`),
			"kind":               r.one("mirror", "transfer"), "confidence": r.one("auto", "confirmed"),
		}}
	case 8:
		return revertStep{op: "account.update", args: map[string]any{
			"id": pick(`select id::text from account order by provider_id`), "hidden": dice.IntN(2) == 0,
			"display_name": r.one("Joint", "Daily"), "force": dice.IntN(2) == 0,
		}}
	case 11:
		return revertStep{op: "balance.set", args: map[string]any{
			"id":  pick(`select id::text from account order by provider_id`),
			"day": r.one("2026-01-31", "2026-02-28"), "current": json.Number(r.one("12.50", "-7", "1000")),
		}}
	case 12:
		return revertStep{op: r.one("recurring.update", "review_pattern"), args: map[string]any{
			"id":    pick(`select id::text from recurring where deleted_at is null order by id`),
			"state": r.one("auto", "confirmed", "dismissed"), "name": r.one("Rent", "Music"), "force": dice.IntN(2) == 0,
		}}
	case 9, 10:
		s := revertStep{op: r.one("transaction.list", "transaction.summary", "tag.list", "category.list",
			"counterparty.list", "rule.list"), args: map[string]any{}}
		if s.op == "transaction.summary" {
			s.args["group_by"] = []any{"category"}
		}
		if s.op == "transaction.list" && dice.IntN(2) == 0 {
			s.args["tags"] = []any{r.tag()}
		}
		return s
	}
	return r.step(ctx)
}

const linksInOrder = `select l.id::text from account_link l join account a on a.id = l.primary_id
	join account b on b.id = l.mirror_id where l.deleted_at is null
	order by least(a.provider_id, b.provider_id), greatest(a.provider_id, b.provider_id)`

func (r *rehearsalRun) rule(dice *rand.Rand) map[string]any {
	return map[string]any{
		"name":       fmt.Sprintf("s000-rule %d", dice.IntN(4)),
		"conditions": map[string]any{"field": "name", "op": "contains", "value": r.one("shop", "bakery")},
		"actions": []any{
			map[string]any{"type": "set_category", "category_slug": r.category()},
			map[string]any{"type": "add_tag", "tag_slug": r.tag()},
		},
	}
}
