package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"coffer/internal/platform/id"
	"github.com/jackc/pgx/v5"
)

// The operations use these records, which the generated household always has.
const (
	leaf                          = "transport_taxis"
	common                        = "amazon"
	rare                          = "zahnarzt mehmet"
	middleDay, yearStart, yearEnd = "2021-06-30", "2024-01-01", "2024-12-31"
	monthBefore, monthStart       = "2024-11-01", "2024-12-01"
	tenYears, lastDay             = "2016-07-01", "2026-06-30"
	lastQuarter                   = "2026-04-01"
	batch                         = 50
)

// An operation is one line of the table with its goal for a million transactions. The program fails
// if a goal is missed.
type operation struct {
	name string
	goal string
	// The goal: at most this multiple of bare's CPU time. With rate, at least this share of bare's
	// requests per second.
	most         float64
	rate         bool
	ms           float64 // used instead of most: coffer's own CPU time at most
	rounds       int     // fewer rounds for an operation that takes long; 0 for the usual number
	coffer, bare func(ctx context.Context, w *world, connections int) (side, error)
}

// finding lists the findings of one kind in the last 90 days of the books. The bare side reads the
// rows from which they are computed.
func finding(kind string) operation {
	return operation{
		name: "findings of 90 days, " + kind, goal: "≤ 500 ms", ms: 500, rounds: 5,
		coffer: reading("/api/v1/findings?start_date=" + lastQuarter + "&kind=" + kind),
		bare: bareSide(asking(`select t.id, t.account_id, t.date, t.amount, t.currency, d.form, d.payee
			from transaction t join descriptor d on d.id = t.descriptor_id
			where t.deleted_at is null and not t.excluded and t.date >= $1::date - 365`, lastQuarter)),
	}
}

// withPurposes returns the operations that get harder if most transactions have their own purpose.
func withPurposes() []operation {
	words := "/api/v1/transactions?search_mode=words&search="
	return []operation{
		{
			name: "search, a reference number", goal: "≤ 80 ms", ms: 80, coffer: reading(words + "NR00123456"),
			bare: bareSide(page(commonSearch, pattern("nr00123456"))),
		},
		{
			name: "search, rare words among purposes", goal: "≤ 15 ms", ms: 15,
			coffer: reading(words + url.QueryEscape(rare)), bare: bareTrigram,
		},
	}
}

func operations() []operation {
	summary := "/api/v1/transactions/summary?group_by=category&group_by=month"
	year := "&start_date=" + yearStart + "&end_date=" + yearEnd
	return []operation{
		{
			name: "first page of 50, with tags", goal: "≤ 1.6×", most: 1.6, coffer: reading("/api/v1/transactions"),
			bare: bareSide(page("", nil)),
		},
		{name: "deep page, with tags", goal: "≤ 1.6×", most: 1.6, coffer: deep, bare: bareSide(deepPage)},
		{
			name: "search, common term", goal: "≤ 1.3×", most: 1.3,
			coffer: reading("/api/v1/transactions?search=" + common),
			bare:   bareSide(page(commonSearch, pattern(common))),
		},
		{
			name: "search, rare words", goal: "≤ 1.0× of the frozen trigram query", most: 1.0,
			coffer: reading("/api/v1/transactions?search_mode=words&search=" + url.QueryEscape(rare)),
			bare:   bareTrigram,
		},
		{
			name: "filter by category", goal: "≤ 1.6×", most: 1.6,
			coffer: reading("/api/v1/transactions?category=" + leaf), bare: bareSide(categoryPage),
		},
		{
			name: "count, category + a year", goal: "≤ 1.9×", most: 1.9,
			coffer: reading("/api/v1/transactions/count?category=" + leaf + year), bare: bareSide(count),
		},
		{
			name: "summary by category and month, 1 year", goal: "≤ 1.2× of the live grouping", most: 1.2,
			coffer: reading(summary + year), bare: bareSide(grouping(yearStart, yearEnd)),
		},
		{
			name: "summary by category and month, 10 years", goal: "≤ 1.1× of the live grouping", most: 1.1,
			coffer: reading(summary), bare: bareSide(grouping("", "")),
		},
		{
			name: "summary of a month against the month before", goal: "≤ 1.3× of the live grouping", most: 1.3,
			coffer: reading("/api/v1/transactions/summary?group_by=category&start_date=" + monthStart + "&end_date=" +
				yearEnd + "&compare=previous_period"),
			bare: bareSide(comparing(monthBefore, monthStart, yearEnd)),
		},
		{
			name: "cash flow of a year", goal: "≤ 1.5× of the live grouping", most: 1.5,
			coffer: reading("/api/v1/cashflow?start_date=" + yearStart + "&end_date=" + yearEnd),
			bare:   bareSide(flowing(yearStart, yearEnd)),
		},
		{
			name: "payees of a year", goal: "≤ 1.3× of the live grouping", most: 1.3,
			coffer: reading("/api/v1/transactions/summary?group_by=payee" + year),
			bare:   bareSide(payees(yearStart, yearEnd)),
		},
		{
			name: "net worth of ten years, by month", goal: "≤ 600 ms", ms: 600,
			coffer: reading("/api/v1/net-worth?interval=month&start_date=" + tenYears + "&end_date=" + lastDay),
			bare:   bareSide(standing(tenYears, lastDay)),
		},
		finding("duplicate"), finding("refund"), finding("unusual"),
		{
			name: "groups of 8,400 that wait for review", goal: "≤ 600 ms", ms: 600, rounds: 5,
			coffer: groups, bare: bareGroups,
		},
		{
			name: "recurring payments after a sync of 30", goal: "≤ 300 ms", ms: 300, rounds: 5,
			coffer: sweeping(someForms), bare: bareSide(asking(someRows)),
		},
		{
			name: "recurring payments of all years", goal: "≤ 2500 ms", ms: 2500, rounds: 3,
			coffer: sweeping(allForms), bare: bareSide(asking(allRows)),
		},
		{
			name: "get one", goal: "≥ 60 % of bare net/http + pgx, in requests/s", most: 0.6, rate: true,
			coffer: getOne,
			bare:   handlerSide,
		},
		{
			name: "batch-categorize 50, with journal", goal: "≤ 1.15×", most: 1.15, coffer: categorize,
			bare: bareSide(bareCategorize),
		},
		{
			name: "preview contains, one caller", goal: "≤ 0.5× of streaming the columns", most: 0.5,
			coffer: previewing(containsCondition), bare: streaming,
		},
		{
			name: "preview regex, one caller", goal: "≤ 1.6× of streaming the columns", most: 1.6,
			coffer: previewing(regexCondition), bare: streaming,
		},
		{
			name: "apply a rule to a fifth, with journal", goal: "≤ 1.7×", most: 1.7, rounds: 3, coffer: applyRule,
			bare: bareApply,
		},
	}
}

// reading is coffer's side of a GET of one path.
func reading(path string) func(context.Context, *world, int) (side, error) {
	return func(ctx context.Context, w *world, connections int) (side, error) {
		request := get(w.server.Address, path, w.key)
		return connect(ctx, w.server.Address, w.server.Pid(), connections, func(int, int) []byte { return request })
	}
}

// deep requests the page behind a cursor in the middle of the books.
func deep(ctx context.Context, w *world, connections int) (side, error) {
	path := "/api/v1/transactions?end_date=" + middleDay
	l, err := connect(ctx, w.server.Address, w.server.Pid(), 1, nil)
	if err != nil {
		return nil, err
	}
	defer l.close(ctx)
	if err := l.clients[0].exchange(get(w.server.Address, path, w.key)); err != nil {
		return nil, err
	}
	var first struct {
		Next string `json:"next_cursor"`
	}
	if err := json.Unmarshal(l.clients[0].body, &first); err != nil || first.Next == "" {
		return nil, fmt.Errorf("no cursor in the first page: %w", err)
	}
	return reading(path+"&cursor="+first.Next)(ctx, w, connections)
}

// getOne reads a different transaction each time, by UUID.
func getOne(ctx context.Context, w *world, connections int) (side, error) {
	requests, err := oneEach(ctx, w, w.server.Address)
	if err != nil {
		return nil, err
	}
	return connect(ctx, w.server.Address, w.server.Pid(), connections,
		func(c, n int) []byte { return requests[(c*131+n)%len(requests)] })
}

func oneEach(ctx context.Context, w *world, address string) ([][]byte, error) {
	ids, err := someIDs(ctx, w, 2000)
	if err != nil {
		return nil, err
	}
	requests := make([][]byte, len(ids))
	for i, u := range ids {
		requests[i] = get(address, "/api/v1/transactions/"+u.String(), w.key)
	}
	return requests, nil
}

// someIDs returns ids of transactions from all over the books, always the same ones.
func someIDs(ctx context.Context, w *world, n int) ([]id.ID, error) {
	rows, err := w.admin.Query(ctx, `select id from transaction where deleted_at is null
		order by hashtext(provider_id), id limit $1`, n)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err == nil && len(ids) < n {
		err = errors.New("the database has too few transactions")
	}
	return ids, err
}

// blocks returns sets of transactions that no two connections share, so that nobody waits for a
// lock. A set contains transactions that are near each other in time, as a person would select
// them.
func blocks(ctx context.Context, w *world, connections int) ([][]id.ID, error) {
	rows, err := w.admin.Query(ctx, `select id from transaction where deleted_at is null
		order by date desc, id desc limit $1`, connections*batch*blocksEach)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	if err != nil {
		return nil, err
	}
	var out [][]id.ID
	for len(ids) >= batch {
		out, ids = append(out, ids[:batch]), ids[batch:]
	}
	if len(out) < connections*blocksEach {
		return nil, errors.New("the database has too few transactions")
	}
	return out, nil
}

const blocksEach = 20

// targets are the two categories between which each batch moves its transactions, so that every
// request changes every row.
var targets = []string{"transport_taxis", "shopping_general_stores"}

// turn returns the block and the target of a connection's nth batch.
func turn(connection, n int) (block, target int) {
	return connection*blocksEach + n%blocksEach, n / blocksEach % len(targets)
}

func categorize(ctx context.Context, w *world, connections int) (side, error) {
	all, err := blocks(ctx, w, connections)
	if err != nil {
		return nil, err
	}
	requests := make([][]byte, 0, len(all)*len(targets))
	for _, ids := range all {
		texts := make([]string, len(ids))
		for i, u := range ids {
			texts[i] = `"` + u.String() + `"`
		}
		for _, target := range targets {
			body := fmt.Sprintf(`{"transaction_ids":[%s],"category_id":"%s"}`, strings.Join(texts, ","), target)
			requests = append(requests, post(w.server.Address, "/api/v1/transactions/batch-categorize", w.key, body))
		}
	}
	return connect(ctx, w.server.Address, w.server.Pid(), connections, func(c, n int) []byte {
		block, target := turn(c, n)
		return requests[block*len(targets)+target]
	})
}
