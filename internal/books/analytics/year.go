package analytics

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// The most categories and tags that a tool returns.
const (
	toolYearCategories = 60
	toolYearTags       = 25
)

// A YearRequest names a year.
type YearRequest struct {
	Year int `json:"year" minimum:"1900" maximum:"2999" doc:"The calendar year" example:"2026"`
}

// A Year holds the totals of a calendar year and of the year before. It counts what a summary
// counts, and amounts in different currencies are never added up. The current year is compared with
// the same days of the year before.
type Year struct {
	Year       int            `json:"year"`
	Period     ComparedDays   `json:"period" doc:"The days that were counted: until today if the year is not over"`
	Totals     []YearTotal    `json:"totals" screen:"rows" doc:"By currency"`
	Categories []YearCategory `json:"categories" doc:"Spending: money out minus refunds, largest first within each currency. Uncategorized money out is the one without a category"`
	Tags       []YearTag      `json:"tags" doc:"A transaction with two tags is in two of them"`
	Income     []YearCategory `json:"income" doc:"Income categories: money in minus money out, largest first; uncategorized money in is the one without a category"`
	Transfers  []YearLeft     `json:"transfers_excluded" doc:"Transfers between your own accounts, which no total counts"`
	Excluded   []YearExcluded `json:"excluded" doc:"Transactions that somebody left out of totals"`
	Notes      []op.Note      `json:"notes" doc:"Caveats about the figures"`
}

// A YearSums holds the sums of a year.
type YearSums struct {
	Income   money.Total `json:"income"`
	Spending money.Total `json:"spending"`
	Net      money.Total `json:"net" doc:"income minus spending"`
	Count    int64       `json:"count" doc:"How many transactions"`
}

// A YearTotal holds the totals of a year in one currency.
type YearTotal struct {
	Currency money.Currency `json:"iso_currency_code"`
	YearSums
	Previous       YearSums      `json:"previous" doc:"The same days of the year before"`
	IncomeMonths   []money.Total `json:"income_months" doc:"January to December"`
	Months         []money.Total `json:"months" doc:"Spending, January to December"`
	PreviousMonths []money.Total `json:"previous_months" doc:"Spending in the whole months of the year before"`
}

// A YearCategory is one category of a year in one currency.
type YearCategory struct {
	Category   *string        `json:"category" doc:"Slug; null: no category"`
	Name       *string        `json:"category_display_name"`
	Primary    *string        `json:"primary_category" doc:"Slug of its primary category; its own if it is one"`
	CategoryID *id.ID         `json:"category_id,omitempty"`
	Currency   money.Currency `json:"iso_currency_code"`
	YearLine
}

// A YearTag is one tag of a year in one currency.
type YearTag struct {
	Tag      string         `json:"tag" doc:"Slug"`
	Currency money.Currency `json:"iso_currency_code"`
	YearLine
}

// A YearLine holds the figures of a category or tag.
type YearLine struct {
	Months   []money.Total `json:"months,omitempty" doc:"January to December"`
	Total    money.Total   `json:"total" doc:"Of a tag: money out minus money in"`
	Previous money.Total   `json:"previous" doc:"The same days of the year before"`
	Count    int64         `json:"count" doc:"How many transactions in the year"`
}

// A YearLeft is what the totals of one currency leave out.
type YearLeft struct {
	Currency money.Currency `json:"iso_currency_code" db:"currency"`
	MoneyIn  money.Total    `json:"money_in" db:"money_in"`
	MoneyOut money.Total    `json:"money_out" db:"money_out"`
	Count    int64          `json:"count" db:"count"`
}

// A YearExcluded sums up the transactions that somebody left out of totals for one reason.
type YearExcluded struct {
	Reason string `json:"excluded_reason" db:"excluded_reason" enum:"reimbursed,duplicate,other"`
	YearLeft
}

// Year adds up a calendar year.
func (t *Totals) Year(ctx context.Context, q pg.Querier, in YearRequest) (Year, error) {
	standing, err := Stand(ctx, q)
	if err != nil {
		return Year{}, err
	}
	first := pg.Day(time.Date(in.Year, 1, 1, 0, 0, 0, 0, time.UTC))
	last := pg.Day(time.Date(in.Year, 12, 31, 0, 0, 0, 0, time.UTC))
	days, err := compared(previousYear, &first, &last, standing.Today)
	if err != nil {
		return Year{}, err
	}
	out := Year{
		Year: in.Year, Period: days, Totals: []YearTotal{}, Categories: []YearCategory{}, Tags: []YearTag{},
		Income: []YearCategory{}, Transfers: []YearLeft{}, Excluded: []YearExcluded{},
	}
	request := func(of Days, by ...string) SummaryRequest {
		return SummaryRequest{Filter: ledger.Filter{StartDate: &of.Start, EndDate: &of.End}, GroupBy: by}
	}
	now, err := t.Sums(ctx, q, request(days.Days, "category", "month"))
	if err != nil {
		return Year{}, err
	}
	before, err := t.Sums(ctx, q, request(*days.Previous, "category"))
	if err != nil {
		return Year{}, err
	}
	whole := Days{pg.Day(first.Time().AddDate(-1, 0, 0)), pg.Day(last.Time().AddDate(-1, 0, 0))}
	earlier, err := t.Sums(ctx, q, request(whole, "category", "month"))
	if err != nil {
		return Year{}, err
	}
	y := newYearBook()
	if err := y.name(ctx, q, slices.Concat(now.Groups, before.Groups, earlier.Groups)); err != nil {
		return Year{}, err
	}
	y.take(now.Groups, before.Groups, earlier.Groups)
	y.write(&out)
	out.Tags, err = t.yearTags(ctx, q, request(days.Days, "tag", "month"), request(*days.Previous, "tag"))
	if err != nil {
		return Year{}, err
	}
	if out.Transfers, err = t.yearTransfers(ctx, q, request(days.Days), now.Totals); err != nil {
		return Year{}, err
	}
	out.Excluded, err = pg.All[YearExcluded](ctx, q, `
		select t.excluded_reason, t.currency, -coalesce(sum(t.amount) filter (where t.amount < 0), 0) as money_in,
			coalesce(sum(t.amount) filter (where t.amount > 0), 0) as money_out, count(*) as count
		from transaction t where t.excluded_reason is not null and t.date between $1 and $2 and t.deleted_at is null
			and `+journal.Leaf+` group by 1, 2 order by 2, 1`, days.Start, days.End)
	if err != nil {
		return Year{}, err
	}
	out.Notes = append(standing.Notes(ctx, &days.Start, &days.End), now.cutNotes(ctx, SummaryRequest{
		GroupBy: []string{"category", "month"},
	})...)
	return out, y.err
}

// A yearBook gathers the figures of a year.
type yearBook struct {
	known map[id.ID]flowCategory
	lines map[yearKey]*YearLine
	sums  map[money.Currency]*YearTotal
	err   error // the first sum that was out of range
}

// A yearKey is a category, either for income or for spending. The zero id stands for money without
// a category.
type yearKey struct {
	income   bool
	category id.ID
	currency money.Currency
}

func newYearBook() *yearBook {
	return &yearBook{
		known: map[id.ID]flowCategory{}, lines: map[yearKey]*YearLine{},
		sums: map[money.Currency]*YearTotal{},
	}
}

// name reads the categories of groups.
func (y *yearBook) name(ctx context.Context, q pg.Querier, groups []Group) error {
	known, err := readFlowCategories(ctx, q, categoriesOf(groups))
	for _, c := range known {
		y.known[c.ID] = c
	}
	return err
}

// A yearSide is a group's amount on one side: income or spending.
type yearSide struct {
	yearKey
	amount money.Total
	count  int64
}

// sides divides a group into income and spending. Money in and money out without a category stay
// separate, because nothing says that they belong together. The number of transactions counts on
// the side with the larger amount.
func (y *yearBook) sides(g Group) []yearSide {
	ref := g.IDs["category"]
	if ref == nil {
		in := yearSide{yearKey{true, id.ID{}, g.Currency}, g.MoneyIn, 0}
		out := yearSide{yearKey{false, id.ID{}, g.Currency}, g.MoneyOut, 0}
		switch {
		case g.MoneyIn.IsZero():
			out.count = g.Count
			return []yearSide{out}
		case g.MoneyOut.IsZero():
			in.count = g.Count
			return []yearSide{in}
		case g.MoneyIn.Cmp(g.MoneyOut) > 0:
			in.count = g.Count
		default:
			out.count = g.Count
		}
		return []yearSide{in, out}
	}
	if y.known[*ref].Kind == nodeIncome {
		return []yearSide{{yearKey{true, *ref, g.Currency}, g.Net, g.Count}}
	}
	return []yearSide{{yearKey{false, *ref, g.Currency}, g.Net.Neg(), g.Count}}
}

func (y *yearBook) add(sum *money.Total, amount money.Total) {
	s, err := sum.Add(amount)
	if err != nil && y.err == nil {
		y.err = err
	}
	*sum = s
}

func (y *yearBook) line(k yearKey) *YearLine {
	l := y.lines[k]
	if l == nil {
		l = &YearLine{Months: make([]money.Total, 12)}
		y.lines[k] = l
	}
	return l
}

func (y *yearBook) total(c money.Currency) *YearTotal {
	s := y.sums[c]
	if s == nil {
		s = &YearTotal{
			Currency: c, IncomeMonths: make([]money.Total, 12), Months: make([]money.Total, 12),
			PreviousMonths: make([]money.Total, 12),
		}
		y.sums[c] = s
	}
	return s
}

// enter adds a yearSide to the sums of a year.
func (y *yearBook) enter(s *YearSums, side yearSide) {
	if side.income {
		y.add(&s.Income, side.amount)
		y.add(&s.Net, side.amount)
	} else {
		y.add(&s.Spending, side.amount)
		y.add(&s.Net, side.amount.Neg())
	}
	s.Count += side.count
}

// take adds up three lists of groups: those of the year by month, those of the days to compare
// with, and those of the whole year before by month.
func (y *yearBook) take(now, before, earlier []Group) {
	for _, g := range now {
		at := monthOf(g)
		for _, side := range y.sides(g) {
			l, s := y.line(side.yearKey), y.total(g.Currency)
			y.add(&l.Months[at], side.amount)
			y.add(&l.Total, side.amount)
			l.Count += side.count
			y.enter(&s.YearSums, side)
			if side.income {
				y.add(&s.IncomeMonths[at], side.amount)
			} else {
				y.add(&s.Months[at], side.amount)
			}
		}
	}
	for _, g := range before {
		for _, side := range y.sides(g) {
			y.add(&y.line(side.yearKey).Previous, side.amount)
			y.enter(&y.total(g.Currency).Previous, side)
		}
	}
	for _, g := range earlier {
		for _, side := range y.sides(g) {
			if !side.income {
				y.add(&y.total(g.Currency).PreviousMonths[monthOf(g)], side.amount)
			}
		}
	}
}

// monthOf returns the month of a group, starting at 0.
func monthOf(g Group) int {
	month := g.Keys["month"]
	if month == nil {
		return 0
	}
	_, name, _ := strings.Cut(month.Plain(), "-")
	n, _ := strconv.Atoi(name) // to_char wrote the number
	return max(n, 1) - 1
}

// write adds the figures to the result, sorted by currency and then the largest first.
func (y *yearBook) write(out *Year) {
	for _, s := range y.sums {
		out.Totals = append(out.Totals, *s)
	}
	slices.SortFunc(out.Totals, func(a, b YearTotal) int { return cmp.Compare(a.Currency, b.Currency) })
	for k, l := range y.lines {
		c := YearCategory{Currency: k.currency, YearLine: *l}
		if known, ok := y.known[k.category]; ok {
			c.Category, c.Name, c.Primary, c.CategoryID = &known.Slug, &known.Name, &known.PrimarySlug, &known.ID
		}
		if k.income {
			out.Income = append(out.Income, c)
		} else {
			out.Categories = append(out.Categories, c)
		}
	}
	order := func(a, b YearCategory) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), b.Total.Cmp(a.Total), b.Previous.Cmp(a.Previous),
			cmp.Compare(orEmpty(a.Category), orEmpty(b.Category)))
	}
	slices.SortFunc(out.Categories, order)
	slices.SortFunc(out.Income, order)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// yearTags adds up the tags of a year, together with those of the days to compare with.
func (t *Totals) yearTags(ctx context.Context, q pg.Querier, now, before SummaryRequest) ([]YearTag, error) {
	type key struct {
		tag      string
		currency money.Currency
	}
	y, lines := newYearBook(), map[key]*YearLine{}
	for _, request := range []SummaryRequest{now, before} {
		sums, err := t.Sums(ctx, q, request)
		if err != nil {
			return nil, err
		}
		for _, g := range sums.Groups {
			name := g.Keys["tag"]
			if name == nil {
				continue
			}
			k := key{name.Plain(), g.Currency}
			if lines[k] == nil {
				lines[k] = &YearLine{Months: make([]money.Total, 12)}
			}
			if len(request.GroupBy) == 1 {
				y.add(&lines[k].Previous, g.Net.Neg())
				continue
			}
			y.add(&lines[k].Months[monthOf(g)], g.Net.Neg())
			y.add(&lines[k].Total, g.Net.Neg())
			lines[k].Count += g.Count
		}
	}
	out := make([]YearTag, 0, len(lines))
	for k, l := range lines {
		if k.tag != ledger.NeedsReview { // the tag has no meaning for a year
			out = append(out, YearTag{k.tag, k.currency, *l})
		}
	}
	slices.SortFunc(out, func(a, b YearTag) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), b.Total.Cmp(a.Total), cmp.Compare(a.Tag, b.Tag))
	})
	return out, y.err
}

// yearTransfers returns what the totals leave out because it is a transfer.
func (t *Totals) yearTransfers(ctx context.Context, q pg.Querier, request SummaryRequest,
	counted []SummaryTotal,
) ([]YearLeft, error) {
	request.Include = []string{"transfers"}
	all, err := t.Sums(ctx, q, request)
	out := []YearLeft{}
	for _, g := range all.Totals {
		left := YearLeft{g.Currency, g.MoneyIn, g.MoneyOut, g.Count}
		for _, c := range counted {
			if c.Currency != g.Currency {
				continue
			}
			left.Count -= c.Count
			if left.MoneyIn, err = left.MoneyIn.Add(c.MoneyIn.Neg()); err != nil {
				return nil, err
			}
			if left.MoneyOut, err = left.MoneyOut.Add(c.MoneyOut.Neg()); err != nil {
				return nil, err
			}
		}
		if left.Count > 0 {
			out = append(out, left)
		}
	}
	return out, err
}

// ofYear returns a year for a model: only the largest categories and tags, and no amounts by month
// for any of them.
func (t *Totals) ofYear(ctx context.Context, q pg.Querier, in FinancesRequest) (Finances, error) {
	now, err := today(ctx, q)
	if err != nil {
		return Finances{}, err
	}
	year := now.Time().Year()
	if in.StartDate != nil {
		year = in.StartDate.Time().Year()
	}
	if year < 1900 || year > 2999 {
		return Finances{}, errs.Field("start_date", "range", "must be in the years 1900 to 2999")
	}
	out, err := t.Year(ctx, q, YearRequest{year})
	if err != nil {
		return Finances{}, err
	}
	left := max(0, len(out.Categories)-toolYearCategories) + max(0, len(out.Tags)-toolYearTags)
	out.Categories = out.Categories[:min(len(out.Categories), toolYearCategories)]
	out.Tags = out.Tags[:min(len(out.Tags), toolYearTags)]
	for i := range out.Categories {
		out.Categories[i].Months, out.Categories[i].CategoryID = nil, nil
	}
	for i := range out.Income {
		out.Income[i].Months, out.Income[i].CategoryID = nil, nil
	}
	for i := range out.Tags {
		out.Tags[i].Months = nil
	}
	if left > 0 {
		out.Notes = append(out.Notes, op.Note{
			Code: "truncated", Count: new(int64(left)),
			Message: fmt.Sprintf("%d smaller categories and tags are not shown", left),
		})
	}
	return Finances{Year: &out}, nil
}
