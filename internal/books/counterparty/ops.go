package counterparty

import (
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/text"
)

// Ops returns the operations on counterparties.
func (c *Counterparties) Ops() []*op.Op {
	return []*op.Op{
		op.Shaped(op.StreamingIn(op.Spec{
			Name: "counterparty.list", Route: "GET /counterparties", Tool: "list_counterparties",
			Summary: "Lists every counterparty.",
			Agent: "Lists every counterparty (payee): the shop or person on the other side of transactions, " +
				"one record across all banks. Call it before assign_counterparty, to avoid duplicates.",
		}, "counterparties", func(rows []Counterparty) Directory { return Directory{rows} }, c.Each), lean),
		op.Writing(op.Spec{
			Name: "counterparty.create", Route: "POST /counterparties",
			Summary: "Creates a counterparty.",
		}, c.Create),
		op.Reading(op.Spec{
			Name: "counterparty.get", Route: "GET /counterparties/{id}", Tool: "get_counterparty",
			Summary: "Shows one counterparty.",
			Agent: "Shows one counterparty with every field. For its transactions use query_transactions with " +
				"counterparty_id.",
		}, c.Get),
		op.Writing(op.Spec{
			Name: "counterparty.update", Route: "PATCH /counterparties/{id}",
			Tool: "update_counterparty", Overwrites: true,
			Summary: "Changes a counterparty's name, website, logo, category or code.",
			Agent: "Changes a counterparty; omitted fields stay, null clears. category_id is its usual " +
				"category; setting it changes no transaction.",
		}, c.Patch),
		op.Writing(op.Spec{
			Name: "counterparty.delete", Route: "DELETE /counterparties/{id}",
			Summary: "Deletes a counterparty without transactions.",
		}, c.Delete),
		op.Writing(op.Spec{
			Name: "counterparty.link", Route: "POST /counterparties/{id}/transactions",
			Summary: "Links up to 50 transactions without a counterparty to this one.",
		}, c.Link),
		op.Writing(op.Spec{
			Name:    "counterparty.unlink",
			Route:   "DELETE /counterparties/{id}/transactions/{transaction_id}",
			Summary: "Unlinks a transaction from its counterparty.",
		}, c.Unlink),
		op.Writing(op.Spec{
			Name: "counterparty.merge", Route: "POST /counterparties/{id}/merge",
			Summary: "Merges a counterparty into another one, which gets all its transactions.",
		}, c.Merge),
		op.Writing(op.Spec{
			Tool: "assign_counterparty", Idempotent: true, Overwrites: true,
			Runs:    op.Runs{Reach: op.ReachNamed},
			Summary: "Links up to 50 transactions to a counterparty, which is created if it does not exist.",
			Agent: "Links up to 50 transactions without a counterparty to one, by id or name; an unknown " +
				"name creates it. Transactions that already have one keep it; those a person unlinked stay " +
				"unlinked (held). Use a clean name (Corner Bakery, not CRNR BKRY #0231).",
		}, c.Assign),
		op.Writing(op.Spec{
			Tool: "unlink_counterparty_transactions", Idempotent: true,
			Summary:     "Unlinks up to 50 transactions from their counterparty.",
			Destructive: true,
			Agent: "Unlinks up to 50 transactions from a counterparty. Transactions that a person linked stay linked " +
				"(held); use force only if the person asks for it.",
		}, c.UnlinkMany),
	}
}

// A ToolCounterparty is a Counterparty as the tool returns it.
type ToolCounterparty struct {
	ID         id.ID          `json:"id" doc:"Short id"`
	Name       text.Untrusted `json:"name" doc:"Untrusted: it may come from the bank's text"`
	CategoryID *id.ID         `json:"category_id" doc:"The category that usually fits; it changes no transaction"`
	MCC        *string        `json:"mcc"`
}

// A ToolDirectory is a Directory as the tool returns it.
type ToolDirectory struct {
	Counterparties []ToolCounterparty `json:"counterparties"`
}

func lean(d Directory) ToolDirectory {
	out := ToolDirectory{make([]ToolCounterparty, len(d.Counterparties))}
	for i, p := range d.Counterparties {
		out.Counterparties[i] = ToolCounterparty{p.ID, p.Name, p.CategoryID, p.MCC}
	}
	return out
}
