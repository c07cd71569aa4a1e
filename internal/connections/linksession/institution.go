package linksession

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// ListInstitutions is the input of Institutions.
type ListInstitutions struct {
	Provider all.Remote `json:"provider"`
	Country  string     `json:"country" pattern:"^[A-Z]{2}$" hint:"be two capital letters, such as DE" doc:"ISO 3166 code, such as DE"`
	Search   string     `json:"search,omitempty" maxLength:"100" doc:"Only banks whose names have all these words"`
	Cursor   string     `json:"cursor,omitempty" doc:"next_cursor of the previous page, with the same filters"`
	Limit    int        `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" doc:"Banks per page"`
}

// An Institution is a bank that a member can choose.
type Institution struct {
	ID      string         `json:"id" doc:"Pass it as institution_id to connect the bank"`
	Name    text.Untrusted `json:"name" doc:"Untrusted: as the provider gives it"`
	Country string         `json:"country"`
	Days    *int           `json:"consent_days" doc:"The longest time until the member must sign in again, in days; null if unknown"`
	Beta    bool           `json:"beta" doc:"The provider is still testing it"`
}

// InstitutionList is a page of banks, by name.
type InstitutionList struct {
	Institutions []Institution `json:"institutions"`
	Total        int           `json:"total" doc:"On all pages together"`
	NextCursor   string        `json:"next_cursor" doc:"Empty on the last page"`
	HasMore      bool          `json:"has_more"`
}

// listsLast is how long a list of banks is reused. While a person types, every letter is a call.
const listsLast = time.Hour

// lists caches the banks of countries, as the providers listed them recently.
type lists struct {
	mu    sync.Mutex
	known map[string]knownList
}

type knownList struct {
	banks []bank.Institution
	until time.Time
}

// of returns the banks of a country: from the cache, or else from the provider.
func (l *lists) of(ctx context.Context, p bank.Provider, c bank.Chooser, country string) ([]bank.Institution, error) {
	key := p.Name() + " " + country
	l.mu.Lock()
	known, ok := l.known[key]
	l.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.banks, nil
	}
	banks, err := c.Institutions(ctx, country)
	if err != nil {
		return nil, err
	}
	banks = slices.Clone(banks)
	slices.SortFunc(banks, func(a, b bank.Institution) int { return slices.Compare(place(a), place(b)) })
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[string]knownList{}
	}
	l.known[key] = knownList{banks, time.Now().Add(listsLast)}
	return banks, nil
}

// place returns the sort key of a bank in a list: its name, then its id.
func place(b bank.Institution) []string { return []string{text.Fold(b.Name.Plain()), b.ID} }

// askInstitutions lists the banks of a country.
func (l *Sessions) askInstitutions(ctx context.Context, _ pg.Querier, in ListInstitutions) ([]bank.Institution, error) {
	if spec, _ := all.Find(string(in.Provider)); !spec.Link.Institutions {
		return nil, errs.Field("provider", "enum", "has no list of banks: the member chooses the bank on its own page")
	}
	provider, _, err := l.connections.Linker(ctx, string(in.Provider))
	if err != nil {
		return nil, err
	}
	chooser, ok := provider.(bank.Chooser)
	if !ok {
		return nil, errs.Field("provider", "enum", "has no list of banks")
	}
	return l.lists.of(ctx, provider, chooser, in.Country)
}

// called reports whether a name contains all words of a search. The search may leave out accents,
// or spell umlauts as email addresses do: "forde" and "foerde" both find "Förde Sparkasse".
func called(name, search string) bool {
	name, search = unaccented(name), unaccented(search)
	short := strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")
	return !slices.ContainsFunc(strings.Fields(search), func(w string) bool {
		return !strings.Contains(name, w) && !strings.Contains(short.Replace(name), short.Replace(w))
	})
}

func unaccented(s string) string {
	return text.Fold(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s)))
}

// Institutions returns a page of the banks that a member can choose.
func (l *Sessions) Institutions(ctx context.Context, _ pg.Querier, in ListInstitutions, banks []bank.Institution) (
	InstitutionList, error,
) {
	filters := in
	filters.Cursor, filters.Limit = "", 0
	pager, err := l.db.Pager(ctx, "institutions", filters)
	if err != nil {
		return InstitutionList{}, err
	}
	var found []bank.Institution
	for _, b := range banks {
		if called(b.Name.Plain(), in.Search) {
			found = append(found, b)
		}
	}
	out := InstitutionList{Institutions: []Institution{}, Total: len(found)}
	if in.Cursor != "" {
		last, err := pager.Decode(in.Cursor, 2)
		if err != nil {
			return InstitutionList{}, err
		}
		// The provider may have added and removed banks since the previous page.
		found = slices.DeleteFunc(found, func(b bank.Institution) bool { return slices.Compare(place(b), last) <= 0 })
	}
	if out.HasMore = len(found) > in.Limit; out.HasMore {
		found = found[:in.Limit]
		if out.NextCursor, err = pager.Encode(place(found[in.Limit-1])...); err != nil {
			return InstitutionList{}, err
		}
	}
	for _, b := range found {
		i := Institution{ID: b.ID, Name: b.Name, Country: b.Country, Beta: b.Trial}
		if days := int(b.Consent / (24 * time.Hour)); days > 0 {
			i.Days = &days
		}
		out.Institutions = append(out.Institutions, i)
	}
	return out, nil
}
