package app_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// TestSearchesWithDeleted: every search finds the same rows as a search in Go over all rows' texts.
// It is tried with and without deleted transactions, in every order, and together with other
// filters.
func TestSearchesWithDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillBooks(t)
	if _, err := w.DB.Exec(t.Context(), `update transaction set deleted_at = now(), deleted_source = 'user'
		where provider_id in ('3', '4')`); err != nil {
		t.Fatal(err)
	}
	type row struct {
		ID      string `db:"id"`
		Text    string `db:"text"`
		Deleted bool   `db:"deleted"`
	}
	rows, err := pg.All[row](t.Context(), w.DB, `select t.id::text as id, t.deleted_at is not null as deleted,
			concat_ws(e'\n', d.name, d.merchant_name, d.detail, c.display_name, p.name,
				coalesce(nullif(a.display_name, ''), a.name), (select string_agg(g.slug, e'\n')
				from transaction_tag x join tag g on g.id = x.tag_id where x.transaction_id = t.id and x.present)) as text
		from transaction t join descriptor d on d.id = t.descriptor_id join account a on a.id = t.account_id
			left join category c on c.id = t.category_id left join counterparty p on p.id = t.counterparty_id`)
	if err != nil {
		t.Fatal(err)
	}
	contains := func(term string) func(string) bool {
		return func(s string) bool { return strings.Contains(text.Fold(s), text.Fold(term)) }
	}
	searches := []struct {
		query url.Values
		match func(string) bool
	}{
		{url.Values{"search": {"starbucks"}}, contains("starbucks")},
		{url.Values{"search": {"StarBucks"}, "sort_by": {"name"}}, contains("starbucks")},
		{url.Values{"search": {"starbucks"}, "sort_by": {"amount"}, "sort_order": {"asc"}}, contains("starbucks")},
		{url.Values{"search": {"rent,rewe"}}, func(s string) bool {
			return contains("rent")(s) ||
				contains("rewe")(s)
		}},
		{
			url.Values{"search": {"#1123 STARBUCKS"}, "search_mode": {"words"}},
			func(s string) bool { return contains("#1123")(s) && contains("starbucks")(s) },
		},
		{url.Values{"search": {"starbuks"}, "search_mode": {"fuzzy"}}, contains("starbucks")},
		{url.Values{"search": {"e"}, "min_amount": {"-100000"}}, contains("e")},
		{url.Values{"search": {"nothing like it"}}, contains("nothing like it")},
		{url.Values{"exclude_search": {"starbucks"}}, func(s string) bool { return !contains("starbucks")(s) }},
		{
			url.Values{"exclude_search": {"refund"}, "search": {"starbucks"}},
			func(s string) bool { return contains("starbucks")(s) && !contains("refund")(s) },
		},
	}
	found := map[string]int{}
	for _, c := range searches {
		for _, deleted := range []string{"exclude", "include", "only"} {
			want := []string{}
			for _, r := range rows {
				if c.match(r.Text) && (deleted == "include" || r.Deleted == (deleted == "only")) {
					want = append(want, r.ID)
				}
			}
			found[deleted] += len(want)
			c.query.Set("deleted", deleted)
			var list struct {
				Transactions []struct {
					ID string `json:"id"`
				} `json:"transactions"`
			}
			var count struct {
				Count int `json:"count"`
			}
			w.read(t, "/api/v1/transactions?"+c.query.Encode(), &list)
			narrow := url.Values{}
			for name, v := range c.query {
				if !strings.HasPrefix(name, "sort_") {
					narrow[name] = v
				}
			}
			w.read(t, "/api/v1/transactions/count?"+narrow.Encode(), &count)
			w.read(t, "/api/v1/transactions/summary?"+narrow.Encode(), &struct{}{})
			got := []string{}
			for _, x := range list.Transactions {
				got = append(got, x.ID)
			}
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) || count.Count != len(want) {
				t.Errorf("%v: found %d, counted %d, want %d", c.query, len(got), count.Count, len(want))
			}
		}
	}
	if found["exclude"] == 0 || found["only"] == 0 || found["include"] != found["exclude"]+found["only"] {
		t.Errorf("found %v, so the test proves nothing", found)
	}
}

// read sends a GET that must succeed.
func (w *world) read(t testing.TB, path string, into any) {
	t.Helper()
	r := w.send(t, exchange{method: http.MethodGet, path: path, key: w.key})
	if r.status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
