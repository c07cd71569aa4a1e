package archive_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
)

// program returns a function that runs a program that reads ledgers. The CI gate has these
// programs; elsewhere the tests are skipped with a message.
func program(t *testing.T, name string) func(args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed; .ci/run installs it", name)
		}
		t.Skipf("%s is not installed: apt-get install hledger beancount", name)
	}
	return func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "PYTHONUTF8=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}

// hostile are texts that a bank, a person or an agent could have written. Each becomes the name of
// an account, a category and a counterparty, and a bank text.
var hostile = []string{
	`=cmd|' /C calc'!A0`, "+1", "-1", "@SUM(A1)", "\tTab", "\rReturn", `"quoted" \ back\slash\`, "two  spaces",
	"a;b ; comment", "a | note", "(virtual)", "[balanced]", "* ! marks",
	"colon:in:name", "date:2020-01-01", "{{}} {USD}", "@@ 5 USD", "= 100 USD", "naïve Größe ☕", "中文店", "שלום",
	"emoji 🏦🏦", "'", "#tag ^link", "P 2020-01-01 USD 1", "include /etc/passwd",
	"\n2020-01-01 * injected\n  a  1 USD\n  b",
	"2020-01-01 open Assets:X", "lower", "Æther", "…", "۱۲۳", "Ⅷ", "ß", "ǆ", "🏦", "", "%s%d", "end comment", "comment",
	"\u202eright to left", "nul\u2028line", `\u0022`, "tag:x, y:z",
}

func furnishHostile(t *testing.T, a *app.App) {
	t.Helper()
	for _, s := range []string{
		`update descriptor d set name = h.text, merchant_name = case when h.n % 2 = 0 then h.text else '' end,
			detail = case when h.n % 3 > 0 then h.text else '' end
			from unnest($1::text[]) with ordinality h (text, n),
			(select id, row_number() over (order by id) as n from descriptor) x where x.id = d.id and x.n = h.n`,
		`update account a set display_name = h.text from unnest($1::text[]) with ordinality h (text, n),
			(select id, row_number() over (order by id) as n from account) x where x.id = a.id and x.n = h.n - 2`,
		`update category c set display_name = h.text from unnest($1::text[]) with ordinality h (text, n),
			(select id, row_number() over (order by id) as n from category) x
			where x.id = c.id and x.n = h.n and h.text <> ''`,
		`insert into counterparty (id, short_id, name) select gen_random_uuid(), 'hh' || lpad(n::text, 6, '0'), text
			from unnest($1::text[]) with ordinality h (text, n) where text <> ''`,
		`update transaction t set counterparty_id = c.id
			from (select id, row_number() over (order by id) as n from counterparty where short_id like 'hh%') c,
			(select id, row_number() over (order by id) as n from transaction) x
			where x.id = t.id and x.n % 97 = c.n and $1::text[] is not null`,
	} {
		if _, err := a.DB.Exec(t.Context(), s, hostile); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	for _, s := range []string{
		`insert into tag (id, short_id, slug, display_name) select gen_random_uuid(), 'tt' || lpad(n::text, 6, '0'),
			s, s from unnest(array['date', 'date:2020-01-01', 'type:x', 'a:b:c',
			'date2:nonsense']) with ordinality h (s, n)`,
		`insert into transaction_tag select t.id, g.id, true, 'user'
			from (select id from transaction order by id limit 20) t, tag g where g.short_id like 'tt%'`,
		// Transactions entered by hand. Every third one is matched with the bank's row, and some
		// have a hostile text.
		`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, origin,
				category_id, excluded, linked_id)
			select gen_random_uuid(), 'm' || left(md5(t.id::text), 7), t.account_id, 'manual:' || t.id, t.date, t.amount,
				t.currency, (select d.id from descriptor d order by md5(d.id::text || t.id) limit 1), 'manual',
				t.category_id, t.n % 3 = 0, case when t.n % 3 = 0 then t.id end
			from (select *, row_number() over (order by id) as n from transaction
				where deleted_at is null and not pending order by id limit 600) t`,
		`insert into manual_match (manual_id, bank_id, state, source)
			select id, linked_id, 'matched', 'rule' from transaction where origin = 'manual' and linked_id is not null`,
		// a thousand transactions split into three parts, including some of those above
		`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, origin,
				pending, excluded, transfer, linked_id, parent_id, remainder, category_id)
			select gen_random_uuid(), 'p' || v.n || left(md5(t.id::text), 7), t.account_id, 'part:' || t.id || v.n, t.date,
				case v.n when 3 then t.amount - 3 * 0.37 else v.n * 0.37 end, t.currency, t.descriptor_id, 'part',
				t.pending, t.excluded, t.transfer, t.linked_id, t.id, v.n = 3,
				(select id from category c order by md5(c.id::text || t.id || v.n) limit 1)
			from (select * from transaction where deleted_at is null order by md5(id::text) limit 1000) t,
				generate_series(1, 3) v (n)`,
		`insert into transaction_tag select t.id, g.id, true, 'user'
			from (select id from transaction where origin = 'part' order by id limit 20) t, tag g
			where g.short_id like 'tt%'`,
		`update transaction t set is_split = true where exists (select from transaction p where p.parent_id = t.id)`,
	} {
		if _, err := a.DB.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// A sumRow is the expected balance of a ledger's account.
type sumRow struct {
	Name   string `db:"name"`
	Amount string `db:"amount"`
}

// ourBalances selects the bank's balance of each account that has one, with debt as a negative
// amount.
const ourBalances = `
	select a.short_id as name, (case when a.type in ('credit', 'loan') then -a.balance_current
		else a.balance_current end)::text as amount from account a
	where a.balance_current is not null order by 2, 1`

// ourSpending sums up posted and pending transactions for each kind of category, by currency.
const ourSpending = `
	select case when t.excluded or t.transfer then 'equity' when c.id is null then 'expenses'
		when coalesce(c.kind, p.kind) = 'expense' then 'expenses'
		when coalesce(c.kind, p.kind) = 'income' then 'income'
		else 'equity' end || ' ' || t.currency as name, sum(t.amount)::text as amount
	from transaction t left join category c on c.id = t.category_id left join category p on p.id = c.parent_id
	left join transaction w on w.id = t.parent_id
	where t.deleted_at is null and not t.is_split
		and not (coalesce(w.origin, t.origin) = 'manual' and t.excluded) group by 1 order by 1`

// matchedTwice checks the transactions entered by hand in a ledger. It must not contain those that
// are matched with the bank's row, and must contain the others, some of them split.
func matchedTwice(t *testing.T, a *app.App, path string) {
	t.Helper()
	type row struct {
		ID    string `db:"short_id"`
		There bool   `db:"there"`
		Split bool   `db:"is_split"`
	}
	rows, err := pg.All[row](t.Context(), a.DB, `select short_id, not excluded as there, is_split from transaction
		where origin = 'manual' and deleted_at is null`)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[row]int{}
	for _, r := range rows {
		if strings.Contains(string(text), r.ID) != r.There {
			t.Errorf("%s, matched: %t, split: %t", r.ID, !r.There, r.Split)
		}
		r.ID = ""
		seen[r]++
	}
	if len(seen) != 4 {
		t.Errorf("control: too few kinds of transactions by hand: %v", seen)
	}
}

func ledgerFile(t *testing.T, a *app.App, format, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, written(t, a, format), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// hledger accepts the journal in strict mode, and its balances equal coffer's.
func TestHledger(t *testing.T) {
	t.Parallel()
	run := program(t, "hledger")
	a := lived(t, 3000)
	furnishHostile(t, a)
	path := ledgerFile(t, a, "hledger", "coffer.journal")
	if out, err := run("-f", path, "check", "--strict"); err != nil {
		t.Fatalf("hledger check: %v\n%s", err, out)
	}
	matchedTwice(t, a, path)
	balances := func(args ...string) [][]string {
		out, err := run(append([]string{"-f", path, "balance", "--layout=bare", "-O", "csv", "--flat", "-N"},
			args...)...)
		if err != nil {
			t.Fatalf("hledger balance: %v\n%s", err, out)
		}
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatalf("%v\n%s", err, out)
		}
		return rows[1:]
	}
	// Names are changed to be valid, so accounts are compared by their amounts: each amount must
	// occur as often as in coffer.
	ours := bag(t, a, ourBalances)
	for _, row := range balances("--cleared", "--empty", "^assets|^liabilities") {
		if ours[row[2]]--; ours[row[2]] == 0 {
			delete(ours, row[2])
		}
	}
	for amount, n := range ours {
		if n > 0 {
			t.Errorf("%d accounts with %s are not in the journal", n, amount)
		}
	}
	compare(t, a, func(yield func(name, amount string)) {
		for _, row := range balances("--depth=1", "expenses", "income", "equity", "not:equity:opening") {
			yield(row[0]+" "+row[1], row[2])
		}
	})
}

// bag counts how often each amount occurs in the result of a query.
func bag(t *testing.T, a *app.App, query string) map[string]int {
	t.Helper()
	rows, err := pg.All[sumRow](t.Context(), a.DB, query)
	if err != nil || len(rows) < 3 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	out := map[string]int{}
	for _, r := range rows {
		out[r.Amount]++
	}
	return out
}

// compare compares the spending, income and transfers in a ledger with coffer's.
func compare(t *testing.T, a *app.App, theirs func(func(name, amount string))) {
	t.Helper()
	rows, err := pg.All[sumRow](t.Context(), a.DB, ourSpending)
	if err != nil || len(rows) < 3 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	ours := map[string]string{}
	for _, r := range rows {
		ours[r.Name] = r.Amount
	}
	theirs(func(name, amount string) {
		if amount = strings.ReplaceAll(amount, ",", ""); ours[name] != amount && amount != "0" {
			t.Errorf("%s: %s there, %s here", name, amount, ours[name])
		}
		delete(ours, name)
	})
	for name, amount := range ours {
		if amount != "0.00" {
			t.Errorf("%s: nothing there, %s here", name, amount)
		}
	}
}

// beanSums prints Beancount's sums: the cleared sum of each account, and the total of each root.
const beanSums = `
import sys, json, collections
from beancount import loader
from beancount.core import data
entries, errors, options = loader.load_file(sys.argv[1])
accounts, roots = collections.defaultdict(int), collections.defaultdict(int)
for e in data.filter_txns(entries):
    for p in e.postings:
        root = p.account.split(":")[0].lower()
        if root in ("assets", "liabilities"):
            if e.flag == "*":
                accounts[p.account + " " + p.units.currency] += p.units.number
        elif p.account != "Equity:Opening":
            roots[root + " " + p.units.currency] += p.units.number
print(json.dumps({"errors": len(errors), "accounts": {k: str(v) for k, v in accounts.items()}, "roots": {k: str(v) for k, v in roots.items()}}))
`

// bean-check accepts the ledger, including its balance assertions, and Beancount's own sums equal
// coffer's.
func TestBeancount(t *testing.T) {
	t.Parallel()
	// This is Debian's own Python, which has the package.
	check, python := program(t, "bean-check"), program(t, "/usr/bin/python3")
	a := lived(t, 3000)
	furnishHostile(t, a)
	path := ledgerFile(t, a, "beancount", "coffer.beancount")
	if out, err := check("--no-cache", path); err != nil || strings.TrimSpace(out) != "" {
		t.Fatalf("bean-check: %v\n%s", err, out)
	}
	matchedTwice(t, a, path)
	out, err := python("-c", beanSums, path)
	var sums struct {
		Errors          int
		Accounts, Roots map[string]string
	}
	if err != nil || json.Unmarshal([]byte(out), &sums) != nil || sums.Errors > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	ours := bag(t, a, ourBalances)
	for _, amount := range sums.Accounts {
		if ours[amount]--; ours[amount] == 0 {
			delete(ours, amount)
		}
	}
	for amount, n := range ours {
		if n > 0 {
			t.Errorf("%d accounts with %s are not in the ledger", n, amount)
		}
	}
	compare(t, a, func(yield func(name, amount string)) {
		for name, amount := range sums.Roots {
			yield(name, amount)
		}
	})
	// The control: a ledger with an amount changed by one cent is rejected.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := strings.LastIndex(string(text), " balance ")
	spoilt := string(text[:i]) + strings.Replace(string(text[i:]), ".", "9.", 1)
	if err := os.WriteFile(path, []byte(spoilt), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := check("--no-cache", path); err == nil {
		t.Error("the control: bean-check accepts a wrong balance")
	}
}

// No cell of the table begins like a formula, and everything else is unchanged.
func TestCSV(t *testing.T) {
	t.Parallel()
	a := lived(t, 1000)
	furnishHostile(t, a)
	rows, err := csv.NewReader(strings.NewReader(string(written(t, a, "csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	n, err := pg.Value[int](t.Context(), a.DB, `
		select count(*) from transaction t left join transaction whole on whole.id = t.parent_id
		where t.deleted_at is null and not t.is_split
			and not (coalesce(whole.origin, t.origin) = 'manual' and coalesce(whole.excluded, t.excluded))`)
	if err != nil || len(rows) != n+1 {
		t.Errorf("%d rows, want %d and a header: %v", len(rows), n, err)
	}
	neutralised := 0
	for _, row := range rows[1:] {
		for i, cell := range row {
			if rows[0][i] != "amount" && cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
				t.Errorf("%s: %q", rows[0][i], cell)
			}
			if strings.HasPrefix(cell, "'=") {
				neutralised++
			}
			if strings.ContainsAny(cell, "\n\r\t") {
				t.Errorf("%s: %q has more than one line", rows[0][i], cell)
			}
		}
	}
	if neutralised == 0 {
		t.Error("the control: no cell needed to be neutralised")
	}
}
