package rulebook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/counterparty"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/text"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/engine/enginetest"
	"coffer/internal/rules/rulebook"
	"coffer/internal/sim/household"
)

// ada is the caller in these tests.
var ada = op.Actor{Type: op.User, ID: id.Must("00000000-0000-7000-8000-0000000000ad"), Name: "Ada", Scope: op.Full}

// A world holds the rules of a household and everything that they depend on.
type world struct {
	testing.TB
	db         *pg.DB
	url        string
	ctx        context.Context //nolint:containedctx // with Ada as the actor, for the length of the test
	categories *category.Categories
	books      *ledger.Books
	others     *counterparty.Counterparties
	jobs       *job.Jobs
	rules      *rulebook.Rulebook
	journal    *journal.Journal
	words      enginetest.Vocabulary
	rows       []*seenRow
	incoming   []ledger.Incoming // in the form in which the bank sent them
	byID       map[id.ID]int
}

// parts assembles the service on this database.
func parts(db *pg.DB, log *slog.Logger) *world {
	w := &world{
		db: db, categories: category.New(ledger.CategoryUser{}, counterparty.CategoryUser{}, rulebook.CategoryUser{}),
		jobs: job.New(db, log),
	}
	w.books = ledger.New(db, w.categories)
	w.others = counterparty.New(w.categories, w.books)
	w.rules = rulebook.New(db, w.categories, w.books, w.jobs)
	w.journal = journal.New(journal.Config{DB: db, Subjects: slices.Concat(w.categories.Subjects(), w.books.Subjects(),
		w.others.Subjects(), w.rules.Subjects())})
	w.jobs.Add(w.rules.Kinds()...)
	return w
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return worldOn(t, pgtest.URL(t))
}

func worldOn(t testing.TB, url string) *world {
	t.Helper()
	db, err := pg.Open(t.Context(), url+"&synchronous_commit=off", pg.Options{MaxConns: 6})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	w := parts(db, slog.New(slog.DiscardHandler))
	w.TB, w.url, w.ctx, w.byID = t, url, op.WithActor(t.Context(), ada), map[id.ID]int{}
	return w
}

// in runs f in a transaction.
func (w *world) in(f func(tx pg.Tx) error) {
	w.Helper()
	if err := w.db.InTx(w.ctx, f); err != nil {
		w.Fatal(err)
	}
}

// tried runs f in a transaction and rolls it back.
func (w *world) tried(f func(tx pg.Tx) error) {
	w.Helper()
	tx, err := w.db.Begin(w.ctx)
	if err != nil {
		w.Fatal(err)
	}
	defer tx.Rollback(w.ctx)
	if err := f(tx); err != nil {
		w.Fatal(err)
	}
}

func (w *world) exec(sql string, args ...any) {
	w.Helper()
	if _, err := w.db.Exec(w.ctx, sql, args...); err != nil {
		w.Fatal(err)
	}
}

func value[T any](w *world, sql string, args ...any) T {
	w.Helper()
	v, err := pg.Value[T](w.ctx, w.db, sql, args...)
	if err != nil {
		w.Fatal(err)
	}
	return v
}

// canonical returns the text that the canonical hash covers.
func (w *world) canonical(q pg.Querier) string {
	w.Helper()
	s, err := ledgertest.Canonical(w.ctx, q, nil, "")
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// A seenRow is a stored transaction that the test reads without the code under test.
type seenRow struct {
	id       id.ID
	draft    engine.Draft
	bound    string // name of its counterparty
	comments int
	deleted  bool
}

const (
	quietSystemRule = `update rule set enabled = false where is_system`
	newVersion      = `update rulebook set version = gen_random_uuid()`
)

// quiet disables the built-in rule.
func (w *world) quiet() {
	w.Helper()
	w.exec(quietSystemRule)
	w.exec(newVersion)
}

// Words with letters that fold in surprising ways (Kelvin, long s, İ, ß, combining marks), and
// texts that SQL could mistake for a pattern or a quote.
var (
	hardWords = []string{
		"EDEKA", "Rewe", "Bücker", "Straße", "edeka", "BÜCKER", "Bu\u0308cker", "\u212aaffee", "kaffee", "STRAẞE",
		"STRASSE", "ſpar", "SPAR", "İzmir", "izmir", "ΣΟΦΟΣ", "σοφος", "ǅungla", "ǆungla",
		"100% off", "100", "50%_", "a_b", "axb", `back\slash`, `\%`, "new\nline", "tab\tbed", "'quote\"", "$1", "{}",
		"4111", "a", "*", "", " ", "needs-review", "e\u0301te\u0301", "été", "REWE EDEKA",
	}
	hardPatterns = []string{
		"(?i)edeka", "^REWE", "(EDEKA|Rewe)", "(?i)^(rewe|spar) ", "[Kk\u212a]affee", `\d{2,4}`, "b.*r",
		"(?i)b[uü]cker", "", "K", "(?i)K", "(?i)stra(ß|ss)e", `\bEDEKA\b`, "(EDEKA)?$", "(?i)σοφοσ",
		"x{2,3}|4111", "[a-z]+ 12", "100%", `50%_`, `a_b`, `back\\slash`, `\\%`, `(?s)e.n`, `\s$`, `[^a-z]*ſ`,
		"plaid|csv", "8[0-9a-f]{3}-",
	}
	hardAmounts = []string{
		"-9999999999.99", "-100", "-0.01", "0", "0.00", "0.01", "9.99", "10", "10.01",
		"9999999999.99", "9999999999.98",
	}
)

// fill adds accounts and n transactions in every state that rules can encounter. Some have texts of
// a generated household.
func (w *world) fill(r *rand.Rand, n int) {
	w.Helper()
	holders := w.holders()
	w.words = enginetest.Vocabulary{
		Words: hardWords, Patterns: hardPatterns, Categories: []string{"", "food_and_drink", "travel", "income_salary"},
		Tags:      []string{"home", "trip:rome", "work", "gone"},
		Providers: []string{"plaid", "teller", "csv", "Plaid", "none"}, Amounts: hardAmounts,
		Parts: []string{"8", "", "-", "x", "A", "7000"}, Users: []string{""},
	}
	for _, h := range holders {
		w.words.Accounts = append(w.words.Accounts, h.facts.AccountID)
		if h.facts.UserID != "" && !slices.Contains(w.words.Users, h.facts.UserID) {
			w.words.Users = append(w.words.Users, h.facts.UserID)
		}
	}
	var bank []household.Transaction
	for t := range household.New(household.Options{
		Seed: r.Uint64(), Transactions: max(n, 500),
		Years: 1,
	}).Transactions() {
		bank = append(bank, t)
	}
	incoming := make([]ledger.Incoming, n)
	for i := range n {
		h := enginetest.Pick(r, holders)
		charge, in := bank[r.IntN(len(bank))], &incoming[i]
		*in = ledger.Incoming{
			AccountID: h.id, ProviderID: fmt.Sprintf("t%05d", i),
			Date:   pg.Day(time.Date(2026, 1, 1+i%300, 0, 0, 0, 0, time.UTC)),
			Amount: money.MustParse(enginetest.Pick(r, hardAmounts)), Currency: enginetest.Pick(r, []money.Currency{"EUR", "EUR", "USD"}),
			Name: text.Name(w.words.Phrase(r)), MerchantName: text.Name(w.words.Phrase(r)),
			Detail:           text.Name(w.words.Phrase(r)),
			CategoryPrimary:  text.Name(enginetest.Pick(r, hardWords)),
			CategoryDetailed: text.Name(enginetest.Pick(r, hardWords)), Pending: r.IntN(3) == 0,
		}
		switch i % 4 {
		case 0:
			in.Name, in.MerchantName, in.Amount = charge.Name, charge.MerchantName, charge.Amount
			w.words.Words = append(w.words.Words, strings.Fields(charge.Name.Plain() + " x")[0])
		case 1:
			in.MerchantName, in.Detail, in.CategoryPrimary, in.CategoryDetailed = "", "", "", ""
		}
		row := &seenRow{draft: engine.Draft{Facts: h.facts}}
		f := &row.draft.Facts
		f.Name, f.MerchantName, f.CategoryPrimary, f.CategoryDetailed = in.Name.Plain(), in.MerchantName.Plain(), in.CategoryPrimary.Plain(), in.CategoryDetailed.Plain()
		f.Detail, f.Currency = in.Detail.Plain(), string(in.Currency)
		f.Cents, f.Pending = cents(in.Amount), in.Pending
		w.rows = append(w.rows, row)
	}
	w.incoming = incoming
	w.in(func(tx pg.Tx) error {
		_, err := w.books.Load(w.ctx, tx, slices.Values(incoming))
		return err
	})
	ids, err := pg.Values[id.ID](w.ctx, w.db, `select id from transaction order by provider_id`)
	if err != nil || len(ids) != n {
		w.Fatalf("%d transactions: %v", len(ids), err)
	}
	for i, u := range ids {
		w.rows[i].id, w.byID[u] = u, i
	}
	w.decide(r)
}

func cents(a money.Amount) int64 {
	s := a.String()
	whole, part, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	var n int64
	_, _ = fmt.Sscan(whole+(part + "00")[:2], &n)
	if strings.HasPrefix(s, "-") {
		return -n
	}
	return n
}

// An owned is an account with the fields that its transactions get from it.
type owned struct {
	id    id.ID
	facts engine.Facts
}

// holders creates accounts of every kind: with an owner, with a connection's member, with both, and
// with neither. Some are renamed.
func (w *world) holders() []owned {
	w.Helper()
	a := auth.New(w.db)
	var out []owned
	w.in(func(tx pg.Tx) error {
		out = nil
		var users []auth.User
		for _, name := range []string{"\u212aaffee Straße", "edeka"} {
			u, err := a.CreateUser(w.ctx, tx, auth.CreateUser{Name: name, Role: "member"})
			if err != nil {
				return err
			}
			users = append(users, u)
		}
		link := id.New()
		if _, err := tx.Exec(w.ctx, `insert into connection (id, short_id, member_id, provider)
			values ($1, $2, $3, 'plaid')`, link, link.Short(), users[1].ID); err != nil {
			return err
		}
		accounts := []account.Incoming{
			{Provider: "plaid", OwnerID: &users[0].ID, ConnectionID: &link, Name: text.Name("EDEKA 100%")},
			{Provider: "plaid", ConnectionID: &link, Name: text.Name("İzmir")},
			{Provider: "teller", OwnerID: &users[0].ID, Name: text.Name("a_b")},
			{Provider: "csv", Name: text.Name("Bücker")},
		}
		owners := []*auth.User{&users[0], &users[1], &users[0], nil}
		for i := range accounts {
			accounts[i].ProviderID, accounts[i].Type, accounts[i].Currency = fmt.Sprintf("a%d", i), "depository", "EUR"
		}
		ids, err := account.New(w.db).AddAccounts(w.ctx, tx, accounts)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(w.ctx, `update account set display_name = 'STRASSE' where id = $1`, ids[3]); err != nil {
			return err
		}
		for i, u := range ids {
			o := owned{u, engine.Facts{
				Provider: accounts[i].Provider, AccountID: u.String(),
				AccountName: accounts[i].Name.Plain(),
			}}
			if owners[i] != nil {
				o.facts.UserID, o.facts.UserName = owners[i].ID.String(), owners[i].Name
			}
			out = append(out, o)
		}
		out[3].facts.AccountName = "STRASSE"
		return nil
	})
	return out
}

// decide sets categories, tags and counterparties in the name of people, agents, rules and banks,
// including held ones.
func (w *world) decide(r *rand.Rand) {
	w.Helper()
	var ids, tagged []id.ID
	var categories, sources, others, otherSources, tags, tagSources []*string
	var present []bool
	source := func() *string { return new(enginetest.Pick(r, []string{"user", "agent", "rule"})) }
	for _, row := range w.rows {
		d := &row.draft
		var category, by, other, otherBy *string
		if d.Category = enginetest.Pick(r, w.words.Categories); d.Category != "" {
			category, by = &d.Category, source()
			d.HeldCategory = *by == "user"
		}
		switch r.IntN(6) {
		case 0:
			otherBy, other = source(), new("Corner")
			row.bound, d.Counterparty, d.HeldCounterparty = *other, true, *otherBy == "user"
		case 1:
			otherBy, d.HeldCounterparty = new("user"), true // a person removed it
		}
		ids, categories, sources, others, otherSources = append(ids, row.id), append(categories,
			category), append(sources, by), append(others, other), append(otherSources, otherBy)
		for _, tag := range w.words.Tags[:3] {
			if r.IntN(3) > 0 {
				continue
			}
			there, by := r.IntN(3) > 0, source()
			tagged, tags, tagSources, present = append(tagged, row.id), append(tags, &tag), append(tagSources,
				by), append(present, there)
			if there {
				d.Tags = append(d.Tags, tag)
			}
			if *by == "user" {
				d.HeldTags = append(d.HeldTags, tag)
			}
		}
	}
	w.in(func(tx pg.Tx) error {
		if _, err := w.categories.Register(w.ctx, tx, w.words.Tags[:3]); err != nil {
			return err
		}
		_, err := w.others.Create(w.ctx, tx, counterparty.CreateCounterparty{Name: "Corner"})
		return err
	})
	w.exec(`
		update transaction t set category_id = c.id, category_source = v.source, counterparty_id = p.id,
			counterparty_source = v.other_source
		from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]) v (id, category, source, other,
			other_source)
		left join category c on c.slug = v.category left join counterparty p on p.name = v.other
			where t.id = v.id`, ids, categories, sources, others, otherSources)
	w.exec(`
		insert into transaction_tag (transaction_id, tag_id, present, source)
		select v.id, g.id, v.present, v.source
			from unnest($1::uuid[], $2::text[], $3::bool[], $4::text[]) v (id, tag, present, source)
			join tag g on g.slug = v.tag`, tagged, tags, present, tagSources)
	w.exec(`analyze`)
}

// A ruleSpec is a rule as a caller would write it.
type ruleSpec struct {
	Name       string          `json:"name"`
	Conditions any             `json:"conditions"`
	Actions    []engine.Action `json:"actions"`
	Trigger    string          `json:"trigger,omitempty"`
	Priority   *int            `json:"priority,omitempty"`
	ExpiresIn  string          `json:"expires_in,omitempty"`
	Now        bool            `json:"apply_retroactively,omitempty"`
}

// create creates rules and returns their ids.
func (w *world) create(specs ...ruleSpec) []id.ID {
	w.Helper()
	var ids []id.ID
	for part := range slices.Chunk(specs, 100) {
		made := w.make(part...)
		for _, m := range made.Rules {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func (w *world) make(specs ...ruleSpec) rulebook.Made {
	w.Helper()
	var made rulebook.Made
	w.in(func(tx pg.Tx) (err error) {
		made, err = w.rules.Create(w.ctx, tx, w.specs(specs...))
		return err
	})
	if made.Failed > 0 {
		w.Fatalf("not created: %+v", made.Errors)
	}
	return made
}

// specs converts rules to the input of Create.
func (w *world) specs(specs ...ruleSpec) (in rulebook.CreateRules) {
	w.Helper()
	printed, err := json.Marshal(map[string]any{"rules": specs})
	if err == nil {
		err = json.Unmarshal(printed, &in)
	}
	if err != nil {
		w.Fatal(err)
	}
	return in
}

// tree parses the condition with the engine.
func (w *world) tree(condition any) engine.Tree {
	w.Helper()
	raw, err := json.Marshal(condition)
	if err != nil {
		w.Fatal(err)
	}
	tree, faults := engine.ParseTree("conditions", raw)
	if len(faults) > 0 {
		w.Fatalf("%s: %+v", raw, faults)
	}
	return tree
}

// conditions converts the condition for the rulebook.
func (w *world) conditions(condition any) rulebook.Conditions {
	w.Helper()
	raw, err := json.Marshal(condition)
	if err != nil {
		w.Fatal(err)
	}
	var out rulebook.Conditions
	if err := json.Unmarshal(raw, &out); err != nil {
		w.Fatal(err)
	}
	return out
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 7)) }
