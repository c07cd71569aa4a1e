package accountlink

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// ReviewLinks is the input of Review.
type ReviewLinks struct {
	IDs        []string `json:"ids" minItems:"1" maxItems:"100" minLength:"1" doc:"The links' UUIDs or short ids"`
	Confidence string   `json:"confidence" enum:"confirmed,rejected" doc:"confirmed: totals exclude their matches; rejected: never suggested again" agent:"-"`
	Force      bool     `json:"force,omitempty" doc:"Override a person's decisions" agent:"-"`
}

// Reviewed is the result of Review.
type Reviewed struct {
	AccountLinks []Link `json:"account_links" doc:"As they are now"`
	Decided      int    `json:"decided" doc:"Number of links that changed"`
	ChangeID     *id.ID `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing changed"`
}

// Review confirms or rejects several links as one change: all of them or none.
func (l *Links) Review(ctx context.Context, tx pg.Tx, in ReviewLinks) (Reviewed, error) {
	var refs, shorts []string
	for _, ref := range in.IDs {
		if u, err := id.Parse(ref); err == nil {
			refs = append(refs, u.String())
		} else {
			shorts = append(shorts, ref)
		}
	}
	const named = ` where ` + shown + ` and (l.id = any($1::uuid[]) or l.short_id = any($2::text[])) order by l.id`
	links, err := l.linksBy(ctx, tx, linkRows+named+` for update of l`, refs, shorts)
	if err != nil {
		return Reviewed{}, err
	}
	for i, ref := range in.IDs {
		if !slices.ContainsFunc(links, func(k Link) bool {
			return k.ShortID == ref || k.ID.String() == strings.ToLower(ref)
		}) {
			return Reviewed{}, errs.Missing(fmt.Sprintf("ids[%d]", i), "account link", "{account-link.list} lists them")
		}
	}
	var entries []journal.Entry
	for _, k := range links {
		if settled(ctx, k, k.Kind, in.Confidence) {
			continue
		}
		if err := held(ctx, k.Source, in.Force, "link"); err != nil {
			return Reviewed{}, err
		}
		was, err := pg.One[stored](ctx, tx, storedRows+` where l.id = $1`, k.ID)
		if err != nil {
			return Reviewed{}, err
		}
		source := journal.Source(op.ActorOf(ctx))
		entry, err := l.turn(ctx, tx, was, record{was.Primary, was.Kind, in.Confidence, false}, &source, false)
		if err != nil {
			return Reviewed{}, err
		}
		entries = append(entries, entry)
	}
	out := Reviewed{Decided: len(entries)}
	if out.ChangeID, err = journal.Record(ctx, tx, journal.Note{}, entries); err != nil {
		return Reviewed{}, err
	}
	out.AccountLinks, err = l.linksBy(ctx, tx, linkRows+named, refs, shorts)
	return out, err
}
