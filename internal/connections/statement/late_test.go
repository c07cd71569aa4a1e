package statement

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A lateBank is a bank in memory that reports its rows when the test lets it, as changes since a
// cursor or as all rows each time.
type lateBank struct {
	mu     sync.Mutex
	shape  bank.Shape
	events []bank.Page
	breaks bool // after the first page of the next loop
}

func (*lateBank) Name() string { return "plaid" }

func (b *lateBank) Traits() bank.Traits {
	return bank.Traits{Title: "Test", Shape: b.shape, PageSize: 100, HasPendingLink: true, WindowDays: 400}
}

func (*lateBank) Accounts(context.Context, bank.Credentials) ([]bank.Account, error) {
	return []bank.Account{{ProviderID: "acc", Name: "Giro", Type: bank.Depository, Currency: "EUR"}}, nil
}

func (b *lateBank) Pull(_ context.Context, _ bank.Credentials, at bank.Position) (bank.Page, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from := 0
	for _, s := range []string{at.Cursor, at.Next} {
		if s != "" {
			_, _ = fmt.Sscanf(s, "c%d", &from)
		}
	}
	if b.breaks && from > 0 {
		b.breaks = false
		return bank.Page{}, &bank.Error{Provider: "plaid", Class: bank.Later, Code: "DOWN"}
	}
	if from >= len(b.events) {
		return b.last(bank.Page{}), nil
	}
	page := b.events[from]
	page.Next = fmt.Sprint("c", from+1)
	if from+1 == len(b.events) {
		page = b.last(page)
	}
	return page, nil
}

func (b *lateBank) last(page bank.Page) bank.Page {
	page.Last = true
	if b.shape == bank.Window {
		page.Complete = []bank.Extent{{AccountID: "acc"}}
		return page
	}
	page.Cursor = fmt.Sprint("c", len(b.events))
	return page
}

// breaksOff makes the next loop fail after its first page.
func (b *lateBank) breaksOff() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.breaks = true
}

// reports adds a page of changes.
func (b *lateBank) reports(rows ...bank.Transaction) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, bank.Page{Transactions: rows})
}

func fed(key, day, amount, name string) bank.Transaction {
	at, _ := time.Parse(time.DateOnly, day)
	return bank.Transaction{
		ProviderID: key, AccountID: "acc", Date: at, Amount: money.MustParse(amount), Currency: "EUR",
		Name: text.Name(name),
	}
}

// A late is a household whose linked bank reports after a file was imported.
type late struct {
	*branch
	bank *lateBank
	conn id.ID
	of   id.ID
}

func newLate(t *testing.T, shape bank.Shape) *late {
	t.Helper()
	p := &lateBank{shape: shape}
	l := &late{branch: newBranchOf(t, p), bank: p}
	err := l.db.InTx(t.Context(), func(tx pg.Tx) error {
		member, err := l.connections.Owner(t.Context(), tx, nil)
		if err != nil {
			return err
		}
		accounts, err := p.Accounts(t.Context(), nil)
		if err != nil {
			return err
		}
		l.conn, err = l.connections.LinkBank(t.Context(), tx, member, "plaid", nil, connection.Opened{
			Linked: bank.Linked{Credentials: bank.Credentials(`{}`)}, Accounts: accounts,
		})
		if err == nil {
			l.of, err = pg.Value[id.ID](t.Context(), tx, `select id from account where provider_id = 'acc'`)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.sync(t)
	return l
}

// sync reads the bank, and returns the change that it made, if any.
func (l *late) sync(t *testing.T) *id.ID {
	t.Helper()
	var j job.Job
	l.bank.mu.Lock()
	breaks := l.bank.breaks
	l.bank.mu.Unlock()
	err := l.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		j, err = l.connections.SyncConnection(t.Context(), tx, connection.ConnectionRef{ID: l.conn.String()})
		return err
	})
	for err == nil && !j.Ended() {
		j, err = l.jobs.Wait(t.Context(), j.ID, 10*time.Second)
	}
	if err != nil || j.State != job.Succeeded && !breaks {
		t.Fatalf("%+v %+v, %v", j, j.Error, err)
	}
	change, err := pg.Value[*id.ID](t.Context(), l.db, `select change_id from sync_log where connection_id = $1
		order by started_at desc limit 1`, l.conn)
	if err != nil {
		t.Fatal(err)
	}
	return change
}

func (l *late) brings(t *testing.T, file string) Imported {
	t.Helper()
	return l.file(t, ImportFile{ID: l.conn.String(), File: []byte(file), AccountID: new(l.of.String())})
}

// holds compares the live rows with what they should be.
func (l *late) holds(t *testing.T, when string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := l.rowsOf(t, l.of); !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", when, got, want)
	}
}

// decisions are what people decided about the live rows, and the rows' ids.
func (l *late) decisions(t *testing.T) string {
	t.Helper()
	rows, err := pg.Values[string](t.Context(), l.db, `
		select concat_ws(' ', t.id, t.category_id, t.category_source, t.excluded_reason, t.excluded_source, t.is_split,
			t.split_source, (select string_agg(p.amount::text, '+' order by p.amount) from transaction p
				where p.parent_id = t.id and p.deleted_at is null),
			(select string_agg(x.tag_id::text, ',' order by x.tag_id) from transaction_tag x
				where x.transaction_id = t.id and x.present),
			(select string_agg(c.content, ',' order by c.id) from comment c where c.transaction_id = t.id))
		from transaction t where t.account_id = $1 and t.deleted_at is null and t.parent_id is null order by t.id`, l.of)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(rows, "\n")
}

// decide lets a person decide something about the row of that amount.
func (l *late) decide(t *testing.T, amount string, o ledger.Operation) {
	t.Helper()
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, ID: id.New(), Name: "Ada", Scope: op.Full})
	err := l.db.InTx(ctx, func(tx pg.Tx) error {
		ref, err := pg.Value[string](ctx, tx, `select id::text from transaction where account_id = $1 and amount = $2
			and deleted_at is null`, l.of, amount)
		if err != nil {
			return err
		}
		o.TransactionID = ref
		out, err := l.books.UpdateTransactions(ctx, tx, ledger.UpdateTransactions{Operations: []ledger.Operation{o}})
		if err == nil && out.Changed != 1 {
			err = fmt.Errorf("%+v", out.Results)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (l *late) divide(t *testing.T, amount, part string) {
	t.Helper()
	ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, ID: id.New(), Name: "Ada", Scope: op.Full})
	err := l.db.InTx(ctx, func(tx pg.Tx) error {
		ref, err := pg.Value[string](ctx, tx, `select id::text from transaction where account_id = $1 and amount = $2
			and deleted_at is null`, l.of, amount)
		if err == nil {
			_, err = l.books.SplitTransaction(ctx, tx, ledger.SplitTransaction{
				TransactionID: ref, Parts: []ledger.SplitPart{{Amount: new(money.MustParse(part))}, {}},
			})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

const lateFile = "Date,Description,Amount\n" +
	"2026-01-05,Miete,-900.00\n2026-01-09,Bäcker,-3.50\n2026-01-09,Bäcker,-3.50\n2026-02-03,Strom,-60.00\n" +
	"2026-02-20,Buch,-18.00\n2026-03-02,Kino,-22.00\n"

// lateRows are what the bank reports of the same payments: some of them days apart, all in other
// words, and one that the file does not have.
func lateRows() []bank.Transaction {
	return []bank.Transaction{
		fed("p1", "2026-01-07", "900.00", "HV KRUEGER"), fed("p2", "2026-01-09", "3.50", "BAECKER KG"),
		fed("p3", "2026-01-09", "3.50", "BAECKER KG"), fed("p4", "2026-02-03", "60.00", "STADTWERKE"),
		fed("p5", "2026-02-19", "18.00", "BUCHHANDLUNG"), fed("p6", "2026-03-02", "22.00", "CINEMA"),
		fed("p7", "2026-03-12", "7.00", "FLORIST"),
	}
}

var lateBooks = []string{
	"2026-01-07 900.00 HV KRUEGER", "2026-01-09 3.50 BAECKER KG", "2026-01-09 3.50 BAECKER KG",
	"2026-02-03 60.00 STADTWERKE", "2026-02-19 18.00 BUCHHANDLUNG", "2026-03-02 22.00 CINEMA",
	"2026-03-12 7.00 FLORIST",
}

// A bank reports days that a file has filled in: each payment counts once, with what people decided
// about it, whether the bank reports them together, one by one, newest or oldest first, or breaks
// off. The import can be undone and made again, and the sync repeated; nothing of that changes the
// books.
func TestFeedAfterFile(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]func(t *testing.T, l *late){
		"at once": func(t *testing.T, l *late) { t.Helper(); l.bank.reports(lateRows()...) },
		"newest first": func(t *testing.T, l *late) {
			t.Helper()
			for _, r := range slices.Backward(lateRows()) {
				l.bank.reports(r)
				l.sync(t)
			}
		},
		"oldest first": func(t *testing.T, l *late) {
			t.Helper()
			for _, r := range lateRows() {
				l.bank.reports(r)
				l.sync(t)
			}
		},
		"broken off": func(t *testing.T, l *late) {
			t.Helper()
			for rows := range slices.Chunk(lateRows(), 3) {
				l.bank.reports(rows...)
			}
			l.bank.breaksOff()
			l.sync(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLate(t, bank.Delta)
			out := l.brings(t, lateFile)
			if out.Added != 6 {
				t.Fatalf("%+v", out.Counts)
			}
			category, err := pg.Value[string](t.Context(), l.db, `select id::text from category order by id limit 1`)
			if err != nil {
				t.Fatal(err)
			}
			l.decide(t, "60.00", ledger.Operation{Category: op.Null[string]{Set: true, Value: &category}, TagsToAdd: []string{"house"}})
			l.decide(t, "18.00", ledger.Operation{Comment: new("for Ben")})
			l.decide(t, "22.00", ledger.Operation{ExcludedReason: op.Null[string]{Set: true, Value: new("other")}})
			l.divide(t, "900.00", "200.00")
			decided := l.decisions(t)
			order(t, l)
			l.sync(t)
			l.holds(t, "reported", lateBooks...)
			for line := range strings.SplitSeq(decided, "\n") {
				if !strings.Contains(l.decisions(t), line) {
					t.Errorf("lost: %s\nnow:\n%s", line, l.decisions(t))
				}
			}
			n, err := pg.Value[int](t.Context(), l.db, `select count(*)::int from entry e join change c on c.id = e.change_id
				where c.cause = 'sync' and e.field = 'correction'`)
			if err != nil || n != 6 {
				t.Errorf("%d of 6 are in the journal, %v", n, err)
			}
			l.again(t, out.ChangeID)
		})
	}
}

// again repeats the sync from its beginning and the import, undoes the import and makes it again.
func (l *late) again(t *testing.T, imported *id.ID) {
	t.Helper()
	before := l.canonical(t) + l.decisions(t)
	same := func(when string) {
		t.Helper()
		if got := l.canonical(t) + l.decisions(t); got != before {
			t.Errorf("%s, the books are others", when)
		}
		l.holds(t, when, lateBooks...)
	}
	l.exec(t, `update connection set cursor = '' where id = $1`, l.conn)
	l.sync(t)
	same("after the sync again")
	if out := l.brings(t, lateFile); out.changed() || out.ChangeID != nil || out.Duplicates != 6 {
		t.Errorf("the file again: %+v", out.Counts)
	}
	same("after the file again")
	done := l.undo(t, imported)
	if done.Reverted != 0 || done.ByReason["conflict"] < 6 {
		t.Errorf("undone: %+v", done)
	}
	same("after the undo of the import")
	if out := l.brings(t, lateFile); out.changed() {
		t.Errorf("the file after its undo: %+v", out.Counts)
	}
	same("after the undo and the file again")
}

// Equal payments of a day count as often as the one that has more of them says. What only the file
// has stays: of another day, amount or currency. The control is a bank that reports nothing.
func TestEqualRowsOfFileAndFeed(t *testing.T) {
	t.Parallel()
	const coffee = "2026-04-01,Kaffee,-3.50\n"
	for _, c := range []struct {
		file, feed, want int
	}{{2, 2, 2}, {1, 2, 2}, {2, 1, 2}, {1, 1, 1}, {3, 1, 3}, {2, 0, 2}} {
		t.Run(fmt.Sprint(c.file, " in the file, ", c.feed, " of the bank"), func(t *testing.T) {
			t.Parallel()
			l := newLate(t, bank.Delta)
			file := "Date,Description,Amount\n" + strings.Repeat(coffee, c.file)
			l.brings(t, file)
			for n := range c.feed {
				l.bank.reports(fed(fmt.Sprint("k", n), "2026-04-01", "3.50", "CAFE"))
				l.sync(t)
			}
			l.bank.reports(fed("later", "2026-04-20", "9.00", "KIOSK"))
			l.sync(t)
			if got := l.rowsOf(t, l.of); len(got) != c.want+1 {
				t.Errorf("%d live: %q", len(got), got)
			}
			if out := l.brings(t, file); out.changed() {
				t.Errorf("again: %+v", out.Counts)
			}
			if out := l.brings(t, file+coffee); out.Added != int64(max(0, c.file+1-c.want)) {
				t.Errorf("with one more: %+v", out.Counts)
			}
		})
	}
}

// What is another payment stays beside the bank's rows.
func TestFeedLeavesOtherRowsOfFiles(t *testing.T) {
	t.Parallel()
	l := newLate(t, bank.Delta)
	l.brings(t, "Date,Description,Amount,Currency\n2026-05-01,Taxi,-20.00,EUR\n2026-05-10,Taxi,-20.00,USD\n"+
		"2026-05-20,Taxi,-20.00,EUR\n2026-05-30,Taxi,20.00,EUR\n")
	l.bank.reports(fed("t1", "2026-05-05", "20.00", "TAXI"), fed("t2", "2026-05-10", "20.00", "TAXI"),
		fed("t3", "2026-05-20", "20.01", "TAXI"), fed("t4", "2026-05-30", "20.00", "TAXI"))
	l.sync(t)
	if got := l.rowsOf(t, l.of); len(got) != 8 {
		t.Errorf("%d live: %q", len(got), got)
	}
}

// A pending row of the bank takes the place of the file's, and posts under another id, with the
// reference to it or without, or together with its posted form.
func TestPendingRowAfterFile(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]func(t *testing.T, l *late, wait, posts bank.Transaction){
		"named": func(t *testing.T, l *late, wait, posts bank.Transaction) {
			t.Helper()
			l.bank.reports(wait)
			l.sync(t)
			l.bank.reports(posts)
		},
		"together": func(_ *testing.T, l *late, wait, posts bank.Transaction) { l.bank.reports(wait, posts) },
		"unnamed": func(t *testing.T, l *late, wait, posts bank.Transaction) {
			t.Helper()
			l.bank.reports(wait)
			l.sync(t)
			posts.PendingID = ""
			l.bank.reports(posts)
		},
		"only posted": func(_ *testing.T, l *late, _, posts bank.Transaction) { l.bank.reports(posts) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLate(t, bank.Delta)
			out := l.brings(t, "Date,Description,Amount\n2026-06-01,Bistro,-30.00\n")
			l.decide(t, "30.00", ledger.Operation{Comment: new("birthday")})
			decided := l.decisions(t)
			wait, posts := fed("w", "2026-06-01", "30.00", "BISTRO"), fed("q", "2026-06-02", "30.00", "BISTRO GMBH")
			wait.Pending, posts.PendingID = true, "w"
			report(t, l, wait, posts)
			l.bank.mu.Lock()
			l.bank.events[len(l.bank.events)-1].Removed = []bank.Removal{{ProviderID: "w", AccountID: "acc"}}
			l.bank.mu.Unlock()
			l.sync(t)
			for _, when := range []string{"settled", "the import undone", "the sync from the beginning"} {
				l.holds(t, when, "2026-06-02 30.00 BISTRO GMBH")
				if got := l.decisions(t); got != decided {
					t.Errorf("%s: %s", when, got)
				}
				switch when {
				case "settled":
					l.undo(t, out.ChangeID)
				case "the import undone":
					l.exec(t, `update connection set cursor = '' where id = $1`, l.conn)
					l.sync(t)
				}
			}
		})
	}
}

// A bank that sends all rows each time takes over the file's once, and leaves those that it does not
// know. Undoing the sync gives the file its row back, and the next one takes it over again.
func TestWindowAfterFile(t *testing.T) {
	t.Parallel()
	l := newLate(t, bank.Window)
	l.brings(t, "Date,Description,Amount\n2026-07-01,Tee,-4.00\n2026-07-09,Obst,-6.00\n")
	l.bank.reports(fed("a", "2026-07-02", "4.00", "TEA"), fed("b", "2026-07-20", "5.00", "PARK"))
	change := l.sync(t)
	want := []string{"2026-07-02 4.00 TEA", "2026-07-09 6.00 Obst", "2026-07-20 5.00 PARK"}
	l.holds(t, "reported", want...)
	l.sync(t)
	l.holds(t, "reported again", want...)
	l.undo(t, change)
	l.holds(t, "the sync undone", "2026-07-01 4.00 Tee", want[1], want[2])
	files, err := pg.Value[int](t.Context(), l.db, `select count(*)::int from transaction where account_id = $1
		and moved_from is not null`, l.of)
	if err != nil || files != 2 {
		t.Errorf("%d rows of files, %v", files, err)
	}
	l.sync(t)
	l.holds(t, "reported once more", want...)
	done, err := pg.Value[int](t.Context(), l.db, `select count(*)::int from entry where field = $1`, journal.FieldCorrection)
	if err != nil || done != 3 {
		t.Errorf("%d entries, %v", done, err)
	}
}
