package browser_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
)

const (
	inbox       = 300  // payments
	mostStrokes = 1.3  // for each payee
	leastRight  = 0.95 // of the payments
)

// TestReviewStory works an inbox to zero. The law: few keys for each payee, and nearly every payment
// ends in the category that the household's generator meant. Agreeing to everything misses that.
func TestReviewStory(t *testing.T) { //nolint:tparallel // one house, and one browser at a time
	t.Parallel()
	axe := built(t)
	h := newHouse(t)
	r := h.inbox(t)
	t.Run("agreeing to everything", func(t *testing.T) { r.agreeToAll(t) }) //nolint:paralleltest // as above
	t.Run("all at once", func(t *testing.T) { r.allAtOnce(t, axe) })        //nolint:paralleltest // as above
	t.Run("by keyboard", func(t *testing.T) { r.byKeyboard(t, axe) })       //nolint:paralleltest // as above
	t.Run("by swipe", func(t *testing.T) { bySwipe(t, h, axe) })            //nolint:paralleltest // as above
}

// A reviewed is an inbox, and what each of its payments really is.
type reviewed struct {
	*house
	rows  []string          // ids, of the inbox
	truth map[string]string // by id: the slug
	names map[string]string // by slug: the name that people see
}

// inbox furnishes a house in which people have filed everything up to the newest payments, which wait.
func (h *house) inbox(t *testing.T) *reviewed {
	t.Helper()
	// The same payments on every day: which payees there are decides how many keys they take.
	made := household.New(household.Options{
		Seed: 7, Transactions: 1200, Years: 2, End: time.Date(2026, time.November, 17, 0, 0, 0, 0, time.UTC),
	})
	h.furnishWith(t, made)
	r := &reviewed{house: h, truth: map[string]string{}, names: map[string]string{}}
	truth := map[string]string{} // Plaid's name, by account and provider's id
	for tx := range made.Transactions() {
		truth[made.Accounts[tx.AccountIndex].ProviderID+" "+tx.ProviderID] = tx.Truth.Plain()
	}
	type pair struct{ Key, Value string }
	slugs := map[string]string{}
	all, err := pg.All[pair](t.Context(), h.DB, `select m.raw_detailed as key, c.slug as value from category_mapping m
		join category c on c.id = m.category_id where m.provider = 'plaid'`)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		slugs[p.Key] = p.Value
	}
	if all, err = pg.All[pair](t.Context(), h.DB, `select slug as key, display_name as value from category`); err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		r.names[p.Key] = p.Value
	}
	if all, err = pg.All[pair](t.Context(), h.DB, `select t.id::text as key, a.provider_id || ' ' || t.provider_id as value
		from transaction t join account a on a.id = t.account_id where not t.pending and not t.excluded
		order by t.date desc, t.id desc`); err != nil {
		t.Fatal(err)
	}
	old := map[string][]string{}
	for i, p := range all {
		slug := slugs[truth[p.Value]]
		if slug == "" {
			t.Fatalf("%q is nothing that the generator made", p.Value)
		}
		r.truth[p.Key] = slug
		if i < inbox {
			r.rows = append(r.rows, p.Key)
		} else {
			old[slug] = append(old[slug], p.Key)
		}
	}
	// Nobody closes these reviews, because that would be agreeing to the bank's category.
	if _, err := h.DB.Exec(t.Context(), `delete from transaction_tag where tag_id = (select id from tag
		where slug = 'needs-review' and deleted_at is null)`); err != nil {
		t.Fatal(err)
	}
	h.bulk(t, map[string]any{"transaction_ids": r.rows}, map[string]any{"tags_to_add": []string{"needs-review"}})
	for slug, ids := range old {
		h.bulk(t, map[string]any{"transaction_ids": ids}, map[string]any{"category": slug})
	}
	return r
}

// bulk changes many payments as a program does.
func (h *house) bulk(t *testing.T, which, set map[string]any) {
	t.Helper()
	send := func(more map[string]any) int {
		body := map[string]any{"set": set}
		for _, m := range []map[string]any{which, more} {
			maps.Copy(body, m)
		}
		line, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return post[struct{ Matched int }](t, h, "/api/v1/transactions/bulk", "application/json", string(line)).Matched
	}
	if _, ok := which["filter"]; ok {
		send(map[string]any{"expect": send(map[string]any{"dry_run": true})})
	} else {
		send(nil)
	}
}

// right is the share of the inbox that has the generator's category.
func (r *reviewed) right(t *testing.T) float64 {
	t.Helper()
	n := 0
	for id, slug := range r.filed(t) {
		if r.truth[id] == slug {
			n++
		}
	}
	return float64(n) / float64(len(r.rows))
}

func (r *reviewed) filed(t *testing.T) map[string]string {
	t.Helper()
	type pair struct{ Key, Value string }
	all, err := pg.All[pair](t.Context(), r.DB, `select t.id::text as key, coalesce(c.slug, '') as value
		from transaction t left join category c on c.id = t.category_id where t.id = any($1::uuid[])`, r.rows)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, p := range all {
		out[p.Key] = p.Value
	}
	return out
}

// A payee is a group of the inbox with what its payments are.
type payee struct {
	ids       []string
	suggested string // a slug, or nothing
}

// payees are the groups that wait, by their keys on the screen: two of them can have one name.
func (r *reviewed) payees(t *testing.T) map[string]payee {
	t.Helper()
	type page struct {
		Groups []struct {
			Payee          string  `json:"payee"`
			CounterpartyID *string `json:"counterparty_id"`
			Suggestion     *struct{ Category string }
		} `json:"groups"`
		Next string `json:"next_cursor"`
	}
	var all page
	for next := ""; next != "" || all.Groups == nil; {
		p := get[page](t, r.house, "/api/v1/review/groups?limit=100&pending=false&cursor="+url.QueryEscape(next))
		all.Groups, next = append(all.Groups, p.Groups...), p.Next
	}
	out := map[string]payee{}
	for _, g := range all.Groups {
		key, q := g.Payee, "limit=500&tags=needs-review&pending=false&payee="+url.QueryEscape(g.Payee)
		if g.CounterpartyID != nil {
			key, q = *g.CounterpartyID, "limit=500&tags=needs-review&pending=false&counterparty_id="+*g.CounterpartyID
		}
		var p payee
		if g.Suggestion != nil {
			p.suggested = g.Suggestion.Category
		}
		for _, tx := range r.list(t, q) {
			p.ids = append(p.ids, tx.ID)
		}
		out[key] = p
	}
	return out
}

// open counts what waits and can be closed: pending payments cannot yet.
func (h *house) open(t *testing.T) int {
	t.Helper()
	return len(h.list(t, "limit=500&tags=needs-review&pending=false"))
}

// get reads an answer of the API.
func get[T any](t *testing.T, h *house, path string) T {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", h.key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // nothing is left of it
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(body, &out); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", path, res.StatusCode, body, err)
	}
	return out
}

// agreeToAll is the control: it takes every suggestion, and what nothing is suggested for as it is.
func (r *reviewed) agreeToAll(t *testing.T) {
	t.Helper()
	since := time.Now().UTC().Format(time.RFC3339Nano)
	for _, p := range r.payees(t) {
		set := map[string]any{"tags_to_remove": []string{"needs-review"}}
		if p.suggested != "" {
			set["category"] = p.suggested
		}
		r.bulk(t, map[string]any{"transaction_ids": p.ids}, set)
	}
	if share := r.right(t); share >= leastRight {
		t.Errorf("agreeing to everything is right for %.3f of the payments, so the law says nothing", share)
	} else {
		t.Logf("agreeing to everything is right for %.3f", share)
	}
	post[json.RawMessage](t, r.house, "/api/v1/changes/revert", "application/json",
		fmt.Sprintf(`{"mine":true,"since":%q}`, since))
	if n := r.open(t); n != inbox {
		t.Fatalf("%d wait after the control was undone, not %d", n, inbox)
	}
}

// byKeyboard works as somebody who knows what each payment is, and reads what the screen suggests.
func (r *reviewed) byKeyboard(t *testing.T, axe string) {
	t.Helper()
	payees := r.payees(t)
	if len(payees) < 50 {
		t.Fatalf("only %d payees wait", len(payees))
	}
	b := newBrowser(t, "desktop")
	b.enterAt(t, r.house, "/review", "to review")
	b.whole(t, axe)
	strokes, groups := 0, 0
	for range 2 * inbox {
		now := b.current(t)
		if now == "" {
			break
		}
		groups++
		strokes += r.work(t, b, payees, now)
		b.do(t, step{Do: "moved", Text: now})
	}
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "see", Text: "You’re all caught up"})
	b.whole(t, axe)
	each, share := float64(strokes)/float64(groups), r.right(t)
	t.Logf("%d payments of %d payees: %.2f keys for each, %.3f right", inbox, groups, each, share)
	if each > mostStrokes || share < leastRight {
		t.Errorf("%.2f keys for each payee, at most %.1f; %.3f right, at least %.2f", each, mostStrokes, share, leastRight)
	}
	if n := r.open(t); n != 0 {
		t.Errorf("%d still wait", n)
	}
	for range 2 {
		b.do(t, step{Do: "key", Name: "z"})
		b.do(t, step{Do: "see", Text: "Undone"})
		b.do(t, step{Do: "idle"})
	}
	if n := r.open(t); n == 0 {
		t.Error("nothing came back after two undos")
	}
}

// current reads the payee that is marked. None is only believed when no answer is waited for.
func (b *browser) current(t *testing.T) string {
	t.Helper()
	if now := b.do(t, step{Do: "current"}).Text; now != "" {
		return now
	}
	b.do(t, step{Do: "idle"})
	return b.do(t, step{Do: "current"}).Text
}

// work closes the current payee, and returns how many keys that took.
func (r *reviewed) work(t *testing.T, b *browser, payees map[string]payee, now string) int {
	t.Helper()
	lines := strings.Split(now, "\n")
	p := payees[b.do(t, step{Do: "currentKey"}).Text]
	if len(p.ids) == 0 {
		t.Fatalf("nobody knows %q", now)
	}
	filed, kept := r.filed(t), 0
	by := map[string]int{}
	for _, id := range p.ids {
		by[r.truth[id]]++
		if filed[id] == r.truth[id] {
			kept++
		}
	}
	want := ""
	for slug, n := range by {
		if want == "" || n > by[want] || n == by[want] && slug < want {
			want = slug
		}
	}
	name := r.names[want]
	suggested, rest := lines[:min(4, len(lines))], lines[slices.Index(lines, "Or use")+1:]
	if slices.Contains(suggested, name) || strings.Contains(now, "Approving keeps ") && kept >= by[want] {
		b.do(t, step{Do: "key", Name: "a"})
		return 1
	}
	if at := slices.Index(rest, name); at >= 0 && at+1 < len(rest) && len(rest[at+1]) == 1 {
		b.do(t, step{Do: "key", Name: rest[at+1]})
		return 1
	}
	b.do(t, step{Do: "key", Name: "c"})
	for i := range len(name) {
		b.do(t, step{Do: "key", Name: name[i : i+1]})
		if strings.HasPrefix(b.do(t, step{Do: "highlighted"}).Text, name) {
			b.do(t, step{Do: "enter"})
			return 1 + i + 1 + 1
		}
	}
	t.Fatalf("%q cannot be picked", name)
	return 0
}

// allAtOnce agrees to all sure payees with one press, which is one change with one undo.
func (r *reviewed) allAtOnce(t *testing.T, axe string) {
	t.Helper()
	b := newBrowser(t, "desktop")
	b.enterAt(t, r.house, "/review", "to review")
	made := r.count(t, `select count(*) from change`)
	b.do(t, step{Do: "click", Name: "Approve all \\d+"})
	b.do(t, step{Do: "see", Text: "Approved"})
	b.do(t, step{Do: "idle"})
	b.whole(t, axe)
	if n := r.count(t, `select count(*) from change`) - made; n != 1 {
		t.Errorf("agreeing to all made %d changes", n)
	}
	if n := r.open(t); n == 0 || n == inbox {
		t.Errorf("%d of %d wait after agreeing to those that are sure", n, inbox)
	}
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "see", Text: "Undone"})
	b.do(t, step{Do: "idle"})
	if n := r.open(t); n != inbox {
		t.Errorf("%d wait after one undo, not %d", n, inbox)
	}
	b.together(t)
	if n := r.open(t); n != inbox {
		t.Errorf("%d wait after one undo of what was approved together, not %d", n, inbox)
	}
}

var smallOnes = regexp.MustCompile(`One or two transactions\s+(\d+) payees, (\d+) transactions\s+Approve all (\d+)`)

// together approves the payees that are too small to decide alone with one press, and undoes that. The button,
// the heading, the message and the progress count the same.
func (b *browser) together(t *testing.T) {
	t.Helper()
	waiting, small := b.house.open(t), smallOnes.FindStringSubmatch(b.look(t).Text)
	if len(small) < 4 || small[2] != small[3] {
		t.Fatalf("the small payees are counted as %q", small)
	}
	n, err := strconv.Atoi(small[2])
	if err != nil {
		t.Fatal(err)
	}
	made := b.house.count(t, `select count(*) from change`)
	b.do(t, step{Do: "click", Name: "Approve all " + small[3]})
	b.do(t, step{Do: "see", Text: fmt.Sprintf("Approved %d transactions from %s payees", n, small[1])})
	b.do(t, step{Do: "idle"})
	b.do(t, step{Do: "see", Text: fmt.Sprintf("%d of %d reviewed", n, waiting)})
	if now := b.house.open(t); now != waiting-n {
		t.Errorf("%d of %d were approved, and %d wait", n, waiting, now)
	}
	if made = b.house.count(t, `select count(*) from change`) - made; made != 1 {
		t.Errorf("approving them together made %d changes", made)
	}
	b.do(t, step{Do: "key", Name: "z"})
	b.do(t, step{Do: "see", Text: "Undone"})
	b.do(t, step{Do: "idle"})
}

// bySwipe agrees to a payee on a phone with a finger, and opens the picker with the other direction.
func bySwipe(t *testing.T, h *house, axe string) {
	t.Helper()
	h.bulk(t, map[string]any{"transaction_ids": h.newest(t, 60)}, map[string]any{"tags_to_add": []string{"needs-review"}})
	b := newBrowser(t, "phone")
	b.enterAt(t, h, "/review", "payees")
	b.whole(t, axe)
	b.do(t, step{Do: "idle"})
	before := h.open(t)
	b.do(t, step{Do: "swipe", Name: "right"})
	b.do(t, step{Do: "see", Text: "Approved"})
	b.do(t, step{Do: "idle"})
	if now := h.open(t); now >= before {
		t.Errorf("%d waited, and %d do after the swipe", before, now)
	}
	b.do(t, step{Do: "swipe", Name: "left"})
	b.do(t, step{Do: "see", Text: "Groceries"})
	b.whole(t, axe)
	b.do(t, step{Do: "key", Name: "Escape"})
	b.do(t, step{Do: "click", Name: "Create rule ?R?"})
	b.do(t, step{Do: "see", Text: "New rule"})
	b.do(t, step{Do: "idle"})
	if v := b.look(t); !strings.Contains(v.URL, "/rules/new?from=") {
		t.Errorf("a rule is made at %s", v.URL)
	}
	b.do(t, step{Do: "see", Text: "Match which transactions?"})
	b.screen(t, "/review", "payees")
	b.do(t, step{Do: "idle"})
	waiting := h.open(t)
	b.do(t, step{Do: "chord", Name: "ga"}) // not A, which would agree
	b.do(t, step{Do: "see", Text: "By bank"})
	if now := h.open(t); now != waiting {
		t.Errorf("%d waited before the way to the activity, and %d after", waiting, now)
	}
}
