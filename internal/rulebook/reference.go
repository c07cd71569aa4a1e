package rulebook

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/rule"
)

//go:embed reference
var pages embed.FS

// A Reference is the input of get_reference.
type Reference struct {
	Kind string `json:"kind" enum:"rule-dsl,instructions,review-guidelines,report-format,categories" doc:"rule-dsl: how to write rules; instructions: how to work here; review-guidelines: how to close reviews; report-format: how to write reports; categories: the tree"`
}

// Reference is a page of Markdown for an agent.
func (b *Rulebook) Reference(ctx context.Context, q pg.Querier, in Reference) (string, error) {
	switch in.Kind {
	case "rule-dsl":
		return rule.Reference(), nil
	case "categories":
		return b.categories(ctx, q)
	}
	page, err := pages.ReadFile("reference/" + in.Kind + ".md")
	if err != nil {
		return "", errs.Wrap(err, errs.InternalError, "this page is missing")
	}
	return string(page), nil
}

// categories is the tree as a page: slugs first, because they are what a caller writes.
func (b *Rulebook) categories(ctx context.Context, q pg.Querier) (string, error) {
	tree, err := b.filing.Categories(ctx, q, op.None{})
	if err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString("# Categories\n\nUse the slug. Prefer a subcategory to its primary. Transfers are left out of spending.\n")
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
