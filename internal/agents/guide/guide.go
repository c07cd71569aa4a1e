// Package guide holds the pages that agents read before they work: the grammar of rules, how to
// review and report, and the categories. It must not decide anything: package engine defines what a
// rule means.
package guide

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"coffer/internal/books/category"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
)

//go:embed pages prompts
var pages embed.FS

// Guide holds the pages of one household.
type Guide struct{ filing *category.Categories }

// New returns a Guide with the household's categories.
func New(f *category.Categories) *Guide { return &Guide{f} }

// Ops returns the operation that reads a page.
func (r *Guide) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Tool: "get_reference", Core: true, TextOut: "text/markdown",
			Summary: "Returns a reference page for agents: the rule grammar, how to work, review and report, or " +
				"the categories.",
		}, r.Reference),
	}
}

// Kinds lists the pages with their subjects.
var Kinds = [][2]string{
	{"rule-dsl", "How to write rules"},
	{"instructions", "Working with this household's finances"},
	{"review-guidelines", "How to close reviews"},
	{"report-format", "How to write reports"},
	{"categories", "The category tree"},
}

// A Page is the input of get_reference.
type Page struct {
	Kind string `json:"kind" enum:"rule-dsl,instructions,review-guidelines,report-format,categories" doc:"rule-dsl: how to write rules; instructions: how to work here; review-guidelines: how to close reviews; report-format: how to write reports; categories: the category tree" agent:"-"`
}

// Reference returns a page of Markdown for an agent.
func (r *Guide) Reference(ctx context.Context, q pg.Querier, in Page) (string, error) {
	switch in.Kind {
	case "rule-dsl":
		return engine.Reference(), nil
	case "categories":
		return r.categories(ctx, q)
	}
	return written("pages/"+in.Kind, op.ActorOf(ctx).Scope < op.Full)
}

// written returns a text. A caller that may not write gets the version that does not mention
// writing, if there are two.
func written(name string, readOnly bool) (string, error) {
	if readOnly {
		if text, err := pages.ReadFile(name + ".read.md"); err == nil {
			return string(text), nil
		}
	}
	text, err := pages.ReadFile(name + ".md")
	if err != nil {
		return "", errs.Wrap(err, errs.InternalError, "this page is missing")
	}
	return string(text), nil
}

// categories returns the tree of categories as a page. Slugs come first, because callers use them.
func (r *Guide) categories(ctx context.Context, q pg.Querier) (string, error) {
	tree, err := r.filing.Categories(ctx, q, op.None{})
	if err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString("# Categories\n\nUse the slug. Prefer a subcategory to its primary. Totals exclude transfers.\n")
	for _, c := range tree {
		if c.Hidden {
			continue
		}
		fmt.Fprintf(&page, "\n## `%s` %s (%s)\n\n", c.Slug, c.DisplayName, c.Kind)
		for _, s := range c.Children {
			if !s.Hidden {
				fmt.Fprintf(&page, "- `%s` %s\n", s.Slug, s.DisplayName)
			}
		}
	}
	return page.String(), nil
}
