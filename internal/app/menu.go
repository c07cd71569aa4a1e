package app

import (
	"slices"

	"coffer/internal/books/payee"
	"coffer/internal/books/review"
	"coffer/internal/books/reviewgroup"
	"coffer/internal/platform/op"
)

// Ops returns every operation of the service.
func (a *App) Ops() []*op.Op { return a.ops() }

func (a *App) menu() []*op.Op {
	return forAdmins(slices.Concat(a.system.ops(), a.Auth.Ops(), a.Jobs.Ops(), a.LinkSessions.Ops(),
		a.Connections.Ops(),
		a.Statements.Ops(), a.Members.Ops(), a.Hooks.Ops(), a.Categories.Ops(), a.Books.Ops(), a.Hand.Ops(),
		a.Accounts.Ops(), a.Totals.Ops(), a.Recurring.Ops(), a.Findings.Ops(), reviewgroup.New(a.DB, a.Books).Ops(),
		review.New(a.Books).Ops(), a.Others.Ops(),
		payee.New(a.DB, a.Books, a.Others, a.Rules).Ops(), a.Rules.Ops(),
		a.References.Ops(), a.Links.Ops(), a.Journal.Ops(), a.Undo.Ops(), a.Archive.Ops(), a.Setting.Ops(),
		a.Reports.Ops(), a.Notify.Ops(), a.Views.Ops(), a.Targets.Ops(), a.Removals.Ops(), a.Overviews.Ops(),
		a.Workflows.Ops(), a.Plans.Ops()))
}
