package statement

import (
	"context"

	"coffer/internal/bank/statement"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// kept is the reason why a row of an agent's file is left out.
const kept = "this row is stored with a different text, date, amount or currency; agents' imports don't " +
	"change stored rows, so ask a person to import the file"

// A bundle holds rows of a file that are stored together.
type bundle struct {
	rows     []ledger.Incoming
	numbers  []int                       // the row numbers in the file
	was, now []string                    // the keys of rows that moved to another day
	parts    map[string][]statement.Part // parts of the rows that the file splits, by the rows' keys
}

func (b *bundle) clear() {
	*b = bundle{rows: b.rows[:0], numbers: b.numbers[:0], was: b.was[:0], now: b.now[:0]}
}

// onlyNew leaves out the rows of an agent's file that would change a stored row. A revert removes
// the rows that an import added. But it cannot restore the bank's text in a row that the import
// overwrote, so only people may overwrite rows.
func (b *bundle) onlyNew(ctx context.Context, q pg.Querier, account, under id.ID, out *Counts) error {
	n := len(b.rows)
	keys, days, amounts, currencies := make([]string, n), make([]pg.Date, n), make([]string, n), make([]string, n)
	texts, details := make([]string, n), make([]string, n)
	const cut = "\n" // separates texts; none contains it
	for i, r := range b.rows {
		keys[i], days[i], amounts[i], currencies[i] = r.ProviderID, r.Date, r.Amount.String(), string(r.Currency)
		texts[i] = r.Name.Plain() + cut + r.MerchantName.Plain() + cut + r.CategoryPrimary.Plain()
		details[i] = r.Detail.Plain()
	}
	differ, err := pg.Values[string](ctx, q, `
		select i.key from unnest($2::text[], $3::date[], $4::text[], $5::text[], $6::text[], $7::text[]) i (key,
			day, amount, currency, words, detail)
		cross join lateral (
			select * from transaction where account_id = $1 and provider_id = i.key
			union all select * from transaction where moved_from = any(array[$1::uuid, $8]) and provider_id = i.key) t
		join descriptor d on d.id = t.descriptor_id
		where t.date <> i.day or t.amount <> i.amount::numeric or t.currency <> i.currency
			or d.name || e'\n' || d.merchant_name || e'\n' || coalesce(t.category_primary, '') <> i.words
			or i.detail <> '' and i.detail <> d.detail`,
		account, keys, days, amounts, currencies, texts, details, under)
	if err != nil {
		return err
	}
	leave := map[string]bool{}
	for _, key := range append(differ, b.now...) {
		leave[key] = true
	}
	rows, numbers := b.rows[:0], b.numbers[:0]
	for i, r := range b.rows {
		if leave[r.ProviderID] {
			out.leaveOut(&statement.RowError{Row: b.numbers[i], Skip: true, Message: kept})
			continue
		}
		rows, numbers = append(rows, r), append(numbers, b.numbers[i])
	}
	b.rows, b.numbers, b.was, b.now = rows, numbers, b.was[:0], b.now[:0]
	return nil
}
