package app_test

import (
	"fmt"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
)

// formNeeds adds arguments that a call needs although the schema does not say so.
func formNeeds(name string, args map[string]any) {
	switch name {
	case "workflow.create": // a workflow with a worklist must be able to write
		args["scope"] = "full_access"
	case "view.create": // the caller is not a member and has no views of its own
		args["shared"] = true
	}
}

// fewWorkflows deletes old workflows: a household can have 200, and only the newest are in use.
func (b *formBook) fewWorkflows(t *testing.T) {
	t.Helper()
	if _, err := b.DB.Exec(t.Context(), `delete from workflow
		where id in (select id from workflow order by id desc offset 150)`); err != nil {
		t.Fatal(err)
	}
}

// valid returns a function that gives a value which the op accepts at a place.
func (c *formCast) valid(t *testing.T) func(formPlace) any {
	t.Helper()
	if c.op != nil && c.op.Name == "workflow.create" {
		c.book.fewWorkflows(t)
	}
	return func(p formPlace) any {
		if r, _, _ := p.ref(); r.kind != "" {
			return c.get(t, r).id.String()
		}
		if p.prop.Name == "payees" { // the call needs a payee with transactions
			args := c.book.cash()
			n := formCount.Add(1)
			name := fmt.Sprintf("kiosk %c%c%c", 'a'+n%26, 'a'+n/26%26, 'a'+n/676%26)
			args["name"] = name
			c.book.do(t, "transaction.create", args)
			return id.KeyOf(name).String()
		}
		return formPlain(p.prop)
	}
}

// agent creates a workflow, a prompt block, a run, a target, or another record that get does not
// create itself.
func (c *formCast) agent(t *testing.T, kind string, n int64,
	made func(name string, args map[string]any) formEntity,
) formEntity {
	t.Helper()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := c.book.DB.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	// A household can have 200 workflows and 200 prompt blocks. Only the newest are in use.
	switch kind {
	case "manual":
		return made("transaction.create", c.book.cash())
	case "workflow":
		c.book.fewWorkflows(t)
		c.book.do(t, "model.set", map[string]any{
			"provider": "openai_compatible", "base_url": "http://127.0.0.1:1",
			"prices": []any{map[string]any{"model": "small", "input_usd": "0", "output_usd": "0"}},
		})
		return made("workflow.create", map[string]any{
			"slug": fmt.Sprintf("w%d", n), "name": "A workflow", "prompt": "Say hello.", "scope": "full_access",
			"provider": "openai_compatible", "model": "small",
		})
	case "target":
		exec(`delete from target where id in (select id from target order by id desc offset 150)`)
		return made("target.create", map[string]any{
			"category": c.get(t, formRef{kind: "category"}).id.String(), "amount": 400,
		})
	case "rate":
		e := formEntity{id: id.New()}
		exec(`insert into rate (id, short_id, currency, quoted, day, rate)
			values ($1, $2, 'CHF', 'EUR', date '1900-01-01' + $3::int, 1)`, e.id, e.id.Short(), n)
		return e
	case "endpoint": // a household can have 20; only the newest are in use
		exec(`delete from endpoint where id in (select id from endpoint order by id desc offset 12)`)
		return made("endpoint.create", map[string]any{"url": "http://127.0.0.1:1/"})
	case "notification":
		c.get(t, formRef{kind: "endpoint"})
		e := formEntity{id: id.New()}
		exec(`insert into notification (id, short_id, type, subject, data)
			values ($1, $2, 'sync.failed', $2, '{}')`, e.id, e.id.Short())
		return e
	case "finding":
		e := formEntity{id: id.New()}
		exec(`insert into finding (id, short_id, account_id, kind, state)
			select $1, $2, id, 'duplicate', 'open' from account order by id limit 1`, e.id, e.id.Short())
		return e
	case "recurring":
		return made("recurring.create", map[string]any{
			"transaction_id": c.get(t, formRef{kind: "transaction"}).id.String(), "cadence": "monthly",
		})
	case "prompt-block":
		exec(`delete from prompt_block where id in (select id from prompt_block order by id desc offset 150)`)
		return made("prompt-block.create", map[string]any{
			"slug": fmt.Sprintf("b%d", n), "title": "A block", "body": "said",
		})
	}
	e := formEntity{id: id.New()}
	exec(`insert into workflow_run (id, short_id, workflow_slug, trigger, status, definition, definition_hash, asked_type,
		asked_name, finished_at) values ($1, $2, 'w', 'manual', case when $3 then 'queued' else 'succeeded' end,
		'{"name": "W"}', '', 'user', 'Ada', case when not $3 then now() end)`, e.id, e.id.Short(),
		c.op != nil && c.op.Name == "workflow-run.cancel")
	return e
}

// parting adds a null transaction_id to calls of transaction.match that name no other transaction.
// Such a call parts a pair.
func parting(o *op.Op, args map[string]any) map[string]any {
	if _, ok := args["transaction_id"]; !ok && o.Name == "transaction.match" {
		args["transaction_id"] = nil
	}
	return args
}
