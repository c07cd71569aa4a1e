package statement

import (
	"fmt"
	"slices"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/statement"
	"coffer/internal/books/account"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// A FilePoint is a balance that a file states.
type FilePoint struct {
	Day    pg.Date      `json:"day"`
	Amount money.Amount `json:"amount" doc:"The money in the account; a debt is negative"`
}

// closings returns the balances of a portion as balances at the ends of days. The opening balance
// of each file is related to the first row of that file.
func (p portion) closings() (out []bank.Closing) {
	for _, f := range p.files {
		for _, c := range (portion{Account: f.Accounts()[0]}).ownClosings() {
			out = put(out, c)
		}
	}
	return out
}

func (p portion) ownClosings() (out []bank.Closing) {
	before := time.Time{} // the day of the previous balance
	for i, point := range p.Points {
		day, err := time.Parse(time.DateOnly, point.Day)
		if err != nil {
			continue
		}
		c := bank.Closing{Day: day, Asset: point.Amount}
		switch point.Kind {
		case statement.Opening:
			if n := len(out); n > 0 && out[n-1].Asset == c.Asset { // it repeats the previous closing balance
				before = out[n-1].Day
				continue
			}
			c.Day = p.opens(day, point.Morning, i == 0)
		case statement.Closing:
			if last := p.day(p.LastDate); i == len(p.Points)-1 && last.After(day) {
				c.Day = last
			}
			if point.Covered {
				c.Since = before
			}
		case statement.Stated:
			c.Moment, c.Since = true, p.since(day)
		default: // a balance between two rows of a day
			continue
		}
		before = c.Day
		out = put(out, c)
	}
	return out
}

// put adds a balance. If a day has two, the later one replaces the earlier one.
func put(all []bank.Closing, c bank.Closing) []bank.Closing {
	i := slices.IndexFunc(all, func(o bank.Closing) bool { return o.Day.Equal(c.Day) })
	if i < 0 {
		return append(all, c)
	}
	if c.Since.IsZero() || c.Since.Equal(c.Day) || !all[i].Since.IsZero() && all[i].Since.Before(c.Since) {
		c.Since = all[i].Since
	}
	all[i] = c
	return all
}

// opens returns the day at whose end the opening balance applies. Some banks date the opening
// balance on the day before the first row, others on the day of the first row. So the result for
// the first statement is always before its first row.
func (p portion) opens(day time.Time, morning, first bool) time.Time {
	if morning {
		day = day.AddDate(0, 0, -1)
	}
	if row := p.day(p.FirstDate); first && !row.IsZero() && !day.Before(row) {
		return row.AddDate(0, 0, -1)
	}
	return day
}

// since returns the day after which the file has all rows up to the given day. It returns the zero
// time if the file may lack rows.
func (p portion) since(day time.Time) time.Time {
	from, to := p.day(least(p.From, p.FirstDate)), p.day(max(p.To, p.LastDate))
	if p.From != "" {
		from = p.day(p.From)
	}
	if from.IsZero() || day.After(to) {
		return time.Time{}
	}
	return from.AddDate(0, 0, -1)
}

func (p portion) day(s string) time.Time {
	day, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return time.Time{}
	}
	return day
}

// ends returns the balances before and after a portion's rows, as the file states them.
func (p portion) ends() (opening, closing *FilePoint) {
	for _, point := range p.Points {
		day, err := pg.ParseDate(point.Day)
		switch {
		case err != nil:
		case point.Kind == statement.Opening && opening == nil:
			opening = &FilePoint{day, point.Amount}
		case point.Kind == statement.Closing || point.Kind == statement.Stated:
			closing = &FilePoint{day, point.Amount}
		}
	}
	return opening, closing
}

// stateBefore warns if a file states one balance and that is off by exactly the sum of the file's
// rows: some banks state the balance before the rows instead of after them. In sum, money out is
// positive.
func (p portion) stateBefore(proof account.StatementProof, sum money.Total) []statement.Warning {
	if len(p.Points) != 1 || p.Points[0].Kind != statement.Stated || sum.IsZero() || proof.OffBy == nil ||
		!proof.OffBy.Equal(sum.Neg()) {
		return nil
	}
	return []statement.Warning{{
		Code: "balance_before_rows",
		Message: fmt.Sprintf("the balance of %s is off by exactly the sum of the file's transactions, so the bank "+
			"seems to state the balance before them; if so, import the file with ledger_balance set to before",
			p.Points[0].Day),
	}}
}

// sinceEach sets Since for a file that has a balance on each of its days, and so has all rows
// between them.
func sinceEach(days []bank.Closing) []bank.Closing {
	for i := 1; i < len(days); i++ {
		days[i].Since = days[i-1].Day
	}
	return days
}
