package csv_test

import (
	"bytes"
	"context"
	plain "encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/banktest"
	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/csv"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A counterBank lets its customer download statements, each with all existing rows. It has no ids
// and no login.
type counterBank struct {
	mu   sync.Mutex
	rows []bank.Transaction
	bad  string // the id of an unreadable row; "" for none
	made int
}

const counterAccount = "acc-1"

// file returns the statement: the newest row last, amounts with a decimal comma, and a minus for
// money out.
func (b *counterBank) file() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out bytes.Buffer
	w := plain.NewWriter(&out)
	w.Comma = ';'
	_ = w.Write([]string{"Buchungstag", "Verwendungszweck", "Betrag", "Währung"}) // writes to memory
	for _, t := range b.rows {
		amount := strings.ReplaceAll(t.Amount.Neg().String(), ".", ",")
		_ = w.Write([]string{t.Date.Format("02.01.2006"), t.Name.Plain(), amount, string(t.Currency)})
	}
	if b.bad != "" {
		_ = w.Write([]string{"05.06.2026", "SPOILT " + b.bad, "zwölf", "EUR"})
	}
	w.Flush()
	return out.Bytes()
}

// Truth returns the rows with ids that follow from their own texts. The comparison shows whether a
// file with these texts results in the same rows.
func (b *counterBank) Truth() ([]bank.Transaction, []bank.Account) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var prints statement.Fingerprints
	out := slices.Clone(b.rows)
	for i, t := range out {
		out[i].ProviderID = prints.Of(statement.Row{Date: t.Date.Format(time.DateOnly), Amount: t.Amount, Name: t.Name})
	}
	return out, []bank.Account{{ProviderID: counterAccount, Name: "Everyday", Type: bank.Depository, Currency: "EUR"}}
}

// Add adds charges. Every third one equals the one before it: two equal coffees stay two.
func (b *counterBank) Add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range n {
		b.made++
		k := b.made - b.made/3
		b.rows = append(b.rows, bank.Transaction{
			AccountID: counterAccount, Date: time.Date(2026, 5, 1+k%28, 0, 0, 0, 0, time.UTC),
			Amount: money.MustParse(fmt.Sprintf("%d.%02d", 1+k%1300, k%100)), Currency: "EUR",
			Name: text.Name(fmt.Sprintf("SHOP %d", k)),
		})
	}
}

// Churn removes rows and changes one.
func (b *counterBank) Churn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows = slices.Delete(b.rows, 2, 5)
	b.rows[0].Name = text.Name(b.rows[0].Name.Plain() + "!")
}

func (b *counterBank) Spoil() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = "row"
	return b.bad
}

func (b *counterBank) Break()               {}
func (b *counterBank) Repair()              {}
func (b *counterBank) Fault(banktest.Fault) {}
func (b *counterBank) Webhook(time.Duration) (http.Header, []byte) {
	return nil, nil
}

// A clerk is a provider that downloads a statement whenever it is asked for rows. It returns the
// statement as a complete window.
type clerk struct{ bank *counterBank }

func (c clerk) Name() string { return "csv" }

func (c clerk) Traits() bank.Traits {
	return bank.Traits{
		Title: "Files", Shape: bank.Window, PageSize: statement.MaxRows, WindowDays: 3650,
		MinInterval: time.Hour,
	}
}

func (c clerk) Accounts(context.Context, bank.Credentials) ([]bank.Account, error) {
	_, accounts := c.bank.Truth()
	return accounts, nil
}

func (c clerk) Pull(ctx context.Context, _ bank.Credentials, at bank.Position) (bank.Page, error) {
	file := bytes.NewReader(c.bank.file())
	p, err := csv.Inspect(ctx, file, csv.Options{})
	if err != nil {
		return bank.Page{}, err
	}
	page := bank.Page{Last: true, Complete: []bank.Extent{{AccountID: counterAccount, From: at.From}}}
	var prints statement.Fingerprints
	for row, err := range csv.Read(ctx, file, p) {
		if bad, ok := errors.AsType[*statement.RowError](err); ok {
			page.Bad = append(page.Bad, bank.NewBad([]byte(fmt.Sprintf(`{"row":%d}`, bad.Row)), "row", counterAccount,
				bank.BadAmount))
			continue
		}
		if err != nil {
			return bank.Page{}, err
		}
		day, err := time.Parse(time.DateOnly, row.Date)
		if err != nil {
			return bank.Page{}, err
		}
		page.Transactions = append(page.Transactions, bank.Transaction{
			ProviderID: prints.Of(row), AccountID: counterAccount, Date: day, Amount: row.Amount,
			Currency: row.Currency, Name: row.Name,
		})
	}
	return page, nil
}

// Files pass the checks of the suite that are about rows. All rows are read with the right sign,
// day and identity. The same file twice changes nothing, and longer and changed files add only the
// differences. An unreadable row does not affect others. The other checks are about logins, pages,
// network faults and webhooks, which files do not have.
func TestFilesPassTheSuite(t *testing.T) {
	t.Parallel()
	about := map[string]bool{
		"traits": true, "history": true, "changes": true, "several at once": true,
		"bad rows": true,
	}
	for _, check := range banktest.Checks() {
		if !about[check.Name] {
			continue
		}
		delete(about, check.Name)
		t.Run(strings.ReplaceAll(check.Name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			b := &counterBank{}
			b.Add(300)
			if err := check.Run(t.Context(), banktest.Subject{Provider: clerk{b}, Bank: b}); err != nil {
				t.Error(err)
			}
		})
	}
	if len(about) > 0 {
		t.Errorf("the suite has no checks %v any more", about)
	}
}

// The control: the suite detects a reader that treats equal rows as one.
func TestFilesControl(t *testing.T) {
	t.Parallel()
	b := &counterBank{}
	b.Add(300)
	for _, check := range banktest.Checks() {
		if check.Name == "history" {
			if err := check.Run(t.Context(), banktest.Subject{Provider: hasty{clerk{b}}, Bank: b}); err == nil {
				t.Error("equal rows went lost, and the suite did not see it")
			}
		}
	}
}

// A hasty clerk drops rows that look like the previous one.
type hasty struct{ clerk }

func (h hasty) Pull(ctx context.Context, c bank.Credentials, at bank.Position) (bank.Page, error) {
	page, err := h.clerk.Pull(ctx, c, at)
	page.Transactions = slices.CompactFunc(page.Transactions,
		func(a, b bank.Transaction) bool { return a.Name == b.Name && a.Amount == b.Amount })
	return page, err
}
