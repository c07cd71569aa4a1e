package machine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"pgregory.net/rapid"
)

func amountOf(n int64) money.Amount { return money.MustParse(cents(n)) }

func nameOf(s string) text.Untrusted { return text.Name(s) }

// steps are the actions of people and agents, each as often as its weight. Earlier ones are also
// drawn more often than later ones.
func (r *run) steps() map[string]func(*rapid.T) {
	out := map[string]func(*rapid.T){"": func(t *rapid.T) { r.stepped(); r.laws(t) }}
	for i, s := range []struct {
		name   string
		weight int
		do     func(*rapid.T)
	}{
		{"import", 4, r.importFile},
		{"import again", 4, r.importAgain},
		{"import into the bank's account", 4, r.importBeside},
		{"enter by hand", 4, r.enter},
		{"revert an import", 4, r.revertImport},
		{"link accounts", 5, r.link},
		{"merge accounts", 4, r.merge},
		{"redo an import", 3, r.redoImport},
		{"revert about an account", 4, r.revertAccount},
		{"revert", 4, r.revert},
		{"sync", 3, r.sync},
		{"remove an account", 3, r.removeAccount},
		{"undo together", 3, r.undoMany},
		{"match", 2, r.match},
		{"judge a link", 2, r.judgeLink},
		{"split", 2, r.split},
		{"edit", 2, r.edit},
		{"delete", 2, r.remove},
		{"restore", 2, r.restore},
		{"judge a pair", 2, r.judgePair},
		{"join", 2, r.join},
		{"bulk", 1, r.bulk},
		{"rule", 1, r.rule},
		{"apply rules", 1, r.apply},
	} {
		for n := range s.weight {
			out[fmt.Sprintf("%02d %s %d", i, s.name, n)] = s.do
		}
	}
	return out
}

// importFile imports some rows of a source: again, more, or with another wording.
func (r *run) importFile(t *rapid.T) {
	s := one(t, "source", r.fromFiles())
	who := anybody(t)
	rows := s.rows
	if rapid.Bool().Draw(t, "some") {
		rows = payments(t, s)
	}
	late := ""
	if s.refs && rapid.IntRange(0, 3).Draw(t, "wording") == 3 {
		late = " corrected"
	}
	r.files = append(r.files, delivered{s, rows, late})
	r.deliver(t, who, r.files[len(r.files)-1])
}

// importAgain imports a file once more.
func (r *run) importAgain(t *rapid.T) {
	r.deliver(t, anybody(t), one(t, "file", r.files))
}

// importBeside imports a file into an account that the bank syncs. It lists the bank's payments in
// its own words, some of them a day apart, whether the bank has reported them or not.
func (r *run) importBeside(t *rapid.T) {
	s := one(t, "bank's account", r.banks())
	type place struct {
		ID    string `db:"id"`
		Until string `db:"until"` // the last day of which the bank reports nothing more
	}
	into := query[place](t, r, `
		select a.id::text, coalesce((select max(x.date) - 3 from transaction x where x.account_id = a.id and
			x.moved_from is null and x.origin = 'bank' and x.deleted_at is null), '9999-12-31')::text as until
		from account a where a.provider_id = $1 and a.deleted_at is null`, s.bank)
	if len(into) == 0 {
		t.Skip("the account is gone")
	}
	rows := slices.DeleteFunc(slices.Clone(s.rows), func(p *payment) bool { return !p.inFiles() })
	if rapid.Bool().Draw(t, "some") {
		rows = some(t, rows)
	}
	who := anybody(t)
	var file strings.Builder
	file.WriteString("Date,Description,Amount\n")
	for _, p := range rows {
		fmt.Fprintf(&file, "%s,FILE WITH %s,%s\n", s.inFile(p), p.name, cents(-p.cents))
	}
	a := r.do(t, who, fmt.Sprintf("import into %s of the bank: %s", s.name, names(rows)), "POST",
		"/connections/"+r.bankConn+"/csv/import?wait=30s&account_id="+into[0].ID, map[string]any{
			"csv": file.String(), "options": map[string]any{"amount_sign": "negative_out"},
		})
	if !a.ok() {
		r.breaks(t, "a file goes into an account that the bank syncs", "%s", a.body)
	}
	r.listed[s] = rows
	for _, p := range rows {
		r.tell(s, 1, p, who != agent && s.inFile(p) <= into[0].Until)
	}
}

// A delivered is a file that was imported.
type delivered struct {
	*source
	rows []*payment
	late string // added to each text
}

func (r *run) deliver(t *rapid.T, who string, f delivered) {
	a := r.do(t, who, fmt.Sprintf("import into %s: %s%s", f.name, names(f.rows), f.late), "POST",
		"/connections/"+f.connection+"/csv/import?wait=30s", f.file(f.rows, f.late))
	if !a.ok() {
		return
	}
	accounts := r.accountsOf(t, f.source)
	for _, p := range f.rows {
		r.tell(f.source, accounts, p, who != agent)
	}
}

// accountsOf returns how many accounts a source has had.
func (r *run) accountsOf(t *rapid.T, s *source) int {
	n, err := pg.Value[int](context.Background(), r.DB, `select count(*)::int from account where name = $1`, s.name)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return n
}

// sync lets the bank report something new, correct it, remove it or bring it back, and syncs.
func (r *run) sync(t *rapid.T) {
	var said []string
	for range rapid.IntRange(1, 3).Draw(t, "bank's rows") {
		s := one(t, "bank's account", r.banks())
		rows := s.rows
		if len(r.listed[s]) > 0 && rapid.Bool().Draw(t, "of a file") {
			rows = r.listed[s]
		}
		p := one(t, "payment", rows)
		id := fmt.Sprintf("%d-%s-%s", r.made, s.name, strings.ReplaceAll(p.name, " ", "-"))
		b := r.atBank[id]
		if b == nil {
			b = &bankRow{id: id, of: s, what: p}
			r.atBank[id] = b
		}
		own := p.later != 0
		switch {
		case !b.there:
			b.cents = p.cents
			r.put(b)
			said = append(said, p.name+" in "+s.name)
		case own && rapid.Bool().Draw(t, "gone"):
			b.there = false
			r.book.Remove(id)
			said = append(said, p.name+" gone from "+s.name)
		case own:
			b.cents = p.cents + p.later - b.cents
			r.put(b)
			said = append(said, p.name+" corrected in "+s.name)
		}
	}
	a := r.do(t, anybody(t), "sync: "+strings.Join(said, ", "), "POST", "/connections/"+r.bankConn+"/sync?wait=30s", nil)
	if !a.ok() {
		r.breaks(t, "a sync succeeds", "%s", a.body)
	}
	for _, b := range r.atBank {
		changed := b.there && b.told != b.cents || !b.there && b.told != 0
		switch {
		case !changed:
		case b.there:
			b.told = b.cents
			r.tell(b.of, 1, b.what, true)
		default:
			b.told = 0
			r.sure[b.what] = false
		}
	}
}

// enter enters a payment by hand: one that the account has, one that its source may report later,
// or another one.
func (r *run) enter(t *rapid.T) {
	a := one(t, "account", r.some(t))
	r.byHand++
	amount, date := int64(100_000+r.byHand), "2026-04-02"
	there := slices.DeleteFunc(r.wholes(t, `t.deleted_at is null and t.origin = 'bank'`),
		func(w row) bool { return w.Account != a.Name })
	slices.Reverse(there) // what comes first is drawn more often, and no sequence begins with the latest
	at := slices.IndexFunc(r.sources, func(s *source) bool { return s.name == a.Name })
	switch how := rapid.IntRange(0, 4).Draw(t, "how"); {
	case how < 3 && len(there) > 0:
		w := one(t, "row", there)
		if p := r.payment(w.Cents); p != nil {
			amount, date = w.Cents, day(p.date, -how)
		}
	case how == 3 && at >= 0:
		p := one(t, "payment", r.sources[at].rows)
		amount, date = p.cents, p.date
	}
	r.do(t, anybody(t), fmt.Sprintf("enter by hand %s in %s on %s", cents(amount), a.Name, date), "POST",
		"/transactions", map[string]any{
			"account_id": a.ID, "date": date, "amount": amountOf(amount), "name": fmt.Sprintf("HAND %d", r.byHand),
		})
}

// edit changes what was entered by hand, or what somebody thinks of a row.
func (r *run) edit(t *rapid.T) {
	w := one(t, "row", r.wholes(t, `t.deleted_at is null`))
	set := map[string]any{"category": "food_and_drink"}
	if w.Origin == "manual" {
		switch rapid.IntRange(0, 2).Draw(t, "what") {
		case 0:
			p := one(t, "payment", one(t, "source", r.sources).rows)
			set = map[string]any{"amount": amountOf(p.cents), "date": p.date}
		case 1:
			set = map[string]any{"date": "2026-04-03"}
		}
	}
	r.do(t, anybody(t), fmt.Sprintf("edit %s: %v", w, set), "PATCH", "/transactions/"+w.ID, set)
}

// remove deletes a row.
func (r *run) remove(t *rapid.T) {
	w := one(t, "row", r.wholes(t, `t.deleted_at is null`))
	a := r.do(t, anybody(t), "delete "+w.String(), "DELETE", "/transactions/"+w.ID, nil)
	if p := r.payment(w.Cents); a.ok() && w.Origin != "manual" && p != nil {
		r.hands[p], r.sure[p] = true, false
	}
}

// restore restores a deleted row.
func (r *run) restore(t *rapid.T) {
	w := one(t, "deleted row", r.wholes(t, `t.deleted_at is not null`))
	a := r.do(t, anybody(t), "restore "+w.String(), "POST", "/transactions/"+w.ID+"/restore", nil)
	if p := r.payment(w.Cents); a.ok() && p != nil && r.told[p] != nil { // whoever restores one means it beside any other
		r.told[p]["restored "+w.ID] = true
	}
}

// match matches a row that was entered by hand with one of the bank's, or with none.
func (r *run) match(t *rapid.T) {
	w := one(t, "row by hand", r.wholes(t, `t.deleted_at is null and t.origin = 'manual'`))
	to := map[string]any{"transaction_id": nil}
	what := "nothing"
	if rapid.IntRange(0, 2).Draw(t, "part") > 0 {
		b := one(t, "bank's row", r.wholes(t, fmt.Sprintf(`t.deleted_at is null and t.origin = 'bank' and t.amount = %s
			and a.name = '%s'`, cents(w.Cents), w.Account)))
		to["transaction_id"], what = b.ID, b.String()
	}
	r.do(t, anybody(t), fmt.Sprintf("match %s with %s", w, what), "PUT", "/transactions/"+w.ID+"/match", to)
}

// split divides a row.
func (r *run) split(t *rapid.T) {
	w := one(t, "row", r.wholes(t, `t.deleted_at is null`))
	parts := []any{map[string]any{"amount": 1}}
	if rapid.Bool().Draw(t, "three") {
		parts = append(parts, map[string]any{"amount": 2.5, "category": "travel"})
	}
	r.do(t, anybody(t), fmt.Sprintf("split %s into %d", w, len(parts)+1), "PUT", "/transactions/"+w.ID+"/split",
		map[string]any{"parts": append(parts, map[string]any{}), "force": rapid.Bool().Draw(t, "force")})
}

// join joins a row's parts.
func (r *run) join(t *rapid.T) {
	w := one(t, "divided row", r.wholes(t, `t.deleted_at is null and t.is_split`))
	r.do(t, anybody(t), "join "+w.String(), "DELETE", "/transactions/"+w.ID+"/split", nil)
}

// merge merges an account into another.
func (r *run) merge(t *rapid.T) {
	from, into := r.two(t)
	r.do(t, anybody(t), "merge "+from.Name+" into "+into.Name, "POST", "/accounts/"+from.ID+"/merge?wait=30s",
		map[string]any{"into": into.ID})
}

// removeAccount removes an account with its rows. The sources of these rows begin again.
func (r *run) removeAccount(t *rapid.T) {
	pool := r.accounts(t)
	if rapid.Bool().Draw(t, "merged") {
		pool = query[account](t, r, `select id::text, name from account a where deleted_at is null
			and exists (select from account x where x.merged_into = a.id and x.deleted_at is not null) order by name, id`)
	}
	a := one(t, "account", pool)
	type part struct {
		Name string `db:"name"`
	}
	parts := query[part](t, r, `with recursive p as (select id, name from account where id = $1::text::uuid
		union select a.id, a.name from account a join p on a.merged_into = p.id) select name from p`, a.ID)
	done := r.do(t, anybody(t), "remove "+a.Name, "POST", "/accounts/"+a.ID+"/remove?wait=30s", map[string]any{})
	if !done.ok() || done.Result.Change == nil {
		return
	}
	r.doubt(t, *done.Result.Change)
	for _, s := range r.sources {
		if slices.Contains(parts, part{s.name}) {
			r.began[s]++
		}
	}
}

// link links accounts, each with the next.
func (r *run) link(t *rapid.T) {
	pool := r.some(t)
	who := anybody(t)
	kind := rapid.SampledFrom([]string{"mirror", "mirror", "mirror", "transfer"}).Draw(t, "kind")
	sure := rapid.SampledFrom([]string{"confirmed", "confirmed", "confirmed", "confirmed", "auto", "rejected"}).Draw(t, "confidence")
	from := one(t, "account", pool)
	for range rapid.SampledFrom([]int{3, 2, 1}).Draw(t, "links") {
		to := one(t, "other", without(pool, from))
		r.do(t, who, fmt.Sprintf("link %s, %s by %s, %s", kind, from.Name, to.Name, sure), "POST", "/account-links",
			map[string]any{
				"primary_account_id": from.ID, "mirror_account_id": to.ID, "kind": kind, "confidence": sure, "force": true,
			})
		r.laws(t)
		from = to
	}
}

// A linked is a link, or a pair of one.
type linked struct {
	ID    string `db:"id"`
	Link  string `db:"link"`
	Named string `db:"named"`
}

// judgeLink confirms, rejects, deletes or looks through a link.
func (r *run) judgeLink(t *rapid.T) {
	l := one(t, "link", query[linked](t, r, `
		select l.id::text, l.id::text as link, l.kind || ' ' || p.name || ' by ' || m.name as named
		from account_link l join account p on p.id = l.primary_id join account m on m.id = l.mirror_id
		where l.deleted_at is null and p.deleted_at is null and m.deleted_at is null order by l.id desc`))
	who := anybody(t)
	switch how := rapid.SampledFrom([]string{"confirmed", "rejected", "deleted", "reconciled"}).Draw(t, "how"); how {
	case "deleted":
		r.do(t, who, "delete link "+l.Named, "DELETE", "/account-links/"+l.ID+"?force=true", nil)
	case "reconciled":
		r.do(t, who, "reconcile link "+l.Named, "POST", "/account-links/"+l.ID+"/reconcile?wait=30s", nil)
	default:
		r.do(t, who, how+" link "+l.Named, "PUT", "/account-links/"+l.ID, map[string]any{"confidence": how, "force": true})
	}
}

// judgePair confirms or rejects a pair of a link.
func (r *run) judgePair(t *rapid.T) {
	m := one(t, "pair", query[linked](t, r, `
		select m.id::text, l.id::text as link, p.name || ' by ' || x.name || ', ' || t.amount as named
		from link_match m join account_link l on l.id = m.account_link_id join account p on p.id = l.primary_id
			join account x on x.id = l.mirror_id join transaction t on t.id = m.primary_id
		where l.deleted_at is null and p.deleted_at is null and x.deleted_at is null
		order by p.name, x.name, t.date, t.amount, m.id`))
	how := rapid.SampledFrom([]string{"confirmed", "rejected"}).Draw(t, "how")
	r.do(t, anybody(t), how+" pair "+m.Named, "PUT", "/account-links/"+m.Link+"/matches/"+m.ID,
		map[string]any{"confidence": how, "force": true})
}

// bulk changes many rows in one call.
func (r *run) bulk(t *rapid.T) {
	who := anybody(t)
	in := map[string]any{
		"filter": map[string]any{"search": rapid.SampledFrom([]string{"own", "shared", "hand", "move"}).Draw(t, "search")},
		"set": map[string]any{
			"category":    rapid.SampledFrom([]string{"travel", "food_and_drink"}).Draw(t, "category"),
			"tags_to_add": []string{"seen"},
		},
		"dry_run": true,
	}
	dry := r.do(t, who, "bulk, dry run", "POST", "/transactions/bulk", in)
	in["dry_run"], in["expect"] = false, dry.Matched
	r.do(t, who, fmt.Sprintf("bulk of %v", in["filter"]), "POST", "/transactions/bulk", in)
}

// rule makes a rule.
func (r *run) rule(t *rapid.T) {
	r.rules++
	word := rapid.SampledFrom([]string{"own", "shared", "hand", "move"}).Draw(t, "word")
	r.do(t, anybody(t), "rule about "+word, "POST", "/rules", map[string]any{"rules": []any{map[string]any{
		"name":          fmt.Sprintf("rule %d", r.rules),
		"conditions":    map[string]any{"field": "name", "op": "contains", "value": word},
		"category_slug": "health", "apply_retroactively": rapid.Bool().Draw(t, "at once"),
	}}})
}

// apply applies all rules.
func (r *run) apply(t *rapid.T) {
	r.do(t, anybody(t), "apply rules", "POST", "/rules/apply?wait=30s", map[string]any{})
}

// revert reverts one change: also a revert.
func (r *run) revert(t *rapid.T) {
	r.takeBack(t, one(t, "change", r.changes(t, "true", 12)))
}

// revertAccount reverts one of the changes that brought accounts or let them go.
func (r *run) revertAccount(t *rapid.T) {
	r.takeBack(t, one(t, "change of an account", r.changes(t, `exists (select from entry e where e.change_id = c.id
		and e.subject = 'account')`, 5)))
}

// revertImport reverts the import of a file.
func (r *run) revertImport(t *rapid.T) {
	r.takeBack(t, one(t, "import", r.changes(t, `c.cause = 'import'`, 5)))
}

// redoImport reverts the revert of an import.
func (r *run) redoImport(t *rapid.T) {
	r.takeBack(t, one(t, "undone import", r.changes(t, `c.undoes and exists (select from change i where i.id = c.root
		and i.cause = 'import')`, 3)))
}

func (r *run) takeBack(t *rapid.T, c change) {
	a := r.do(t, anybody(t), "revert: "+c.Summary, "POST", "/changes/"+c.ID+"/revert", map[string]any{})
	if len(a.ByReason) > 0 {
		r.tellf(t, "    left %v", a.ByReason)
	}
	if a.ok() && a.Change != nil {
		r.doubt(t, a.Change.ID)
		r.whole(t, c.ID, a.Change.ID)
	}
}

// undoMany reverts several changes in one call.
func (r *run) undoMany(t *rapid.T) {
	list := r.changes(t, "true", 12)
	if len(list) < 2 {
		t.Skip("there are no two changes")
	}
	mask := rapid.IntRange(3, 1<<len(list)-1).Draw(t, "changes")
	var ids, what []string
	for i, c := range list {
		if mask>>i&1 == 1 {
			ids, what = append(ids, c.ID), append(what, c.Summary)
		}
	}
	a := r.do(t, anybody(t), "undo together: "+strings.Join(what, "; "), "POST", "/changes/revert",
		map[string]any{"change_ids": ids})
	if len(a.ByReason) > 0 {
		r.tellf(t, "    left %v", a.ByReason)
	}
	if !a.ok() {
		return
	}
	for _, done := range a.Results {
		if done.Revert != nil {
			r.doubt(t, *done.Revert)
			r.whole(t, done.Change, *done.Revert)
		}
	}
}
