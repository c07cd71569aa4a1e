package app

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"coffer/internal/bank"
	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/household"
	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

// devCommand groups commands that only developers need.
func devCommand(config Config) *cobra.Command {
	dev := &cobra.Command{
		Use: "dev", Short: "Developer tools: sample data",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var o household.Options
	var end string
	var raw bool
	seed := &cobra.Command{
		Use: "seed", Short: "Fill an empty database with a sample household", Args: cobra.NoArgs,
		Long: "Generates a household of two with accounts at three banks and stores its transactions. Rules " +
			"run on them as in a sync. The same seed and end date give the same household.",
		Example: "  coffer dev seed --transactions 3000\n  coffer dev seed --transactions 1000000 --years 10 --raw",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := Build(cmd.Context(), config, config.logger())
			if err != nil {
				return err
			}
			defer a.DB.Close()
			if err := a.opened(cmd.Context()); err != nil {
				return err
			}
			o.End = time.Now()
			if end != "" {
				day, err := pg.ParseDate(end)
				if err != nil {
					return errs.New(errs.ValidationError, "--end must be a date, such as 2026-11-15")
				}
				o.End = day.Time()
			}
			load := a.throughRules
			if raw {
				load = a.Books.Load
			}
			return a.fill(cmd.Context(), household.New(o), load, cmd.ErrOrStderr())
		},
	}
	seed.Flags().IntVar(&o.Transactions, "transactions", 10_000, "number of transactions")
	seed.Flags().IntVar(&o.Years, "years", 3, "number of years")
	seed.Flags().Uint64Var(&o.Seed, "seed", 1, "seed for the household")
	seed.Flags().BoolVar(&o.Purposes, "purposes", false, "add memos to most transactions")
	seed.Flags().StringVar(&end, "end", "", "the last day, such as 2026-11-15 (default today)")
	seed.Flags().BoolVar(&raw, "raw", false,
		"skip rules and the journal (faster: a million in a minute)")
	dev.AddCommand(seed)
	return dev
}

const seedBatch = 50_000

// Seed fills an empty database with a household, bypassing the rules and the journal.
func (a *App) Seed(ctx context.Context, h *household.Household, progress io.Writer) error {
	return a.fill(ctx, h, a.Books.Load, progress)
}

// A loader stores transactions and returns how many were new.
type loader func(context.Context, pg.Tx, iter.Seq[ledger.Incoming]) (int64, error)

// throughRules loads transactions as a sync does: each batch is one change, and the rules act on
// new transactions.
func (a *App) throughRules(ctx context.Context, tx pg.Tx, rows iter.Seq[ledger.Incoming]) (int64, error) {
	all := slices.Collect(rows)
	m, _, err := a.Rules.Merge(ctx, tx, id.New(), all)
	if err != nil {
		return 0, err
	}
	tagged, err := a.tag(ctx, tx, all)
	if err != nil {
		return 0, err
	}
	_, err = journal.Record(ctx, tx, journal.Note{Cause: journal.Sync, Summary: "Added sample data"},
		append(m.Entries, tagged...))
	return int64(len(m.Inserted)), err
}

// tag adds the sample tags that no rule sets.
func (a *App) tag(ctx context.Context, tx pg.Tx, rows []ledger.Incoming) ([]journal.Entry, error) {
	var accounts []id.ID
	var providers, slugs []string
	for _, r := range rows {
		for _, slug := range r.Tags {
			if slug != "needs-review" {
				accounts, providers, slugs = append(accounts, r.AccountID), append(providers,
					r.ProviderID), append(slugs, slug)
			}
		}
	}
	type target struct {
		Transaction id.ID `db:"transaction"`
		Tag         id.ID `db:"tag"`
	}
	found, err := pg.All[target](ctx, tx, `
		select t.id as transaction, g.id as tag
			from unnest($1::uuid[], $2::text[], $3::text[]) v (account_id, provider_id, slug)
		join transaction t on t.account_id = v.account_id and t.provider_id = v.provider_id
			join tag g on g.slug = v.slug and g.deleted_at is null
		order by t.id`, accounts, providers, slugs)
	if err != nil {
		return nil, err
	}
	edits := make([]ledger.Edit, len(found))
	for i, f := range found {
		edits[i] = ledger.Edit{
			Transaction: f.Transaction, Field: journal.FieldTag, Tag: &f.Tag,
			Value: new(ledger.Present),
		}
	}
	_, entries, err := a.Books.Apply(ctx, tx, edits, false)
	return entries, err
}

// fill fills an empty database with a household. It commits each batch, so that the reported
// progress is real and memory use stays constant.
func (a *App) fill(ctx context.Context, h *household.Household, load loader, progress io.Writer) error {
	ctx = op.WithActor(ctx, op.Actor{Type: op.System, Name: "seed"})
	if filled, err := pg.Value[bool](ctx, a.DB, `select exists (select from account)`); err != nil || filled {
		if err == nil {
			err = errs.New(errs.Conflict, "this database already has accounts; use an empty one")
		}
		return err
	}
	start := time.Now()
	var accounts []id.ID
	err := a.DB.InTx(ctx, func(tx pg.Tx) (err error) {
		accounts, err = a.seedAccounts(ctx, tx, h)
		return err
	})
	if err != nil {
		return err
	}
	done := 0
	next, stop := iter.Pull(a.seedRows(h, accounts))
	defer stop()
	for done < h.Options.Transactions {
		err := a.DB.InTx(ctx, func(tx pg.Tx) error {
			n, err := load(ctx, tx, take(next, seedBatch))
			done += int(n)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(progress, "\r%d of %d transactions, %s ", done, h.Options.Transactions,
			time.Since(start).Round(time.Second))
	}
	fmt.Fprintln(progress)
	conn, err := a.DB.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	// With ten million rows, computing balances and statistics takes longer than a request may.
	if _, err := conn.Exec(ctx, `set statement_timeout = 0`); err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := a.Accounts.BackfillBalances(ctx, tx); err != nil {
			return err
		}
		return a.Recurring.Sweep(ctx, tx)
	})
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `vacuum analyze`)
	return err
}

func (a *App) seedAccounts(ctx context.Context, tx pg.Tx, h *household.Household) ([]id.ID, error) {
	members := make([]id.ID, len(h.Members))
	for i, m := range h.Members {
		u, err := a.Auth.CreateUser(ctx, tx, auth.CreateUser{Name: m.Name, Email: &m.Email, Role: "admin"})
		if err != nil {
			return nil, err
		}
		members[i] = u.ID
	}
	connections := make([]connection.NewConnection, len(h.Connections))
	for i, c := range h.Connections {
		connections[i] = connection.NewConnection{
			MemberID: members[c.Member], Provider: c.Provider,
			Institution: c.Institution,
		}
	}
	ids, err := a.Connections.AddConnections(ctx, tx, connections)
	if err != nil {
		return nil, err
	}
	for _, slug := range []string{"shared", "reimbursable", "trip:summer"} {
		if _, err := a.Categories.CreateTag(ctx, tx, category.CreateTag{Slug: slug}); err != nil {
			return nil, err
		}
	}
	accounts := make([]account.Incoming, len(h.Accounts))
	for i, c := range h.Accounts {
		accounts[i] = account.Incoming{
			ConnectionID: &ids[c.Connection], Provider: h.Connections[c.Connection].Provider, ProviderID: c.ProviderID,
			Name: c.Name, OfficialName: c.OfficialName,
			Type: c.Type, Subtype: c.Subtype, Mask: c.Mask, Currency: c.Currency, BalanceCurrent: c.Current,
			BalanceAvailable: c.Available, BalanceLimit: c.Limit,
		}
		if c.Owner != household.None {
			accounts[i].OwnerID = &members[c.Owner]
		}
	}
	return a.Accounts.AddAccounts(ctx, tx, accounts)
}

// seedRows returns the household's transactions in the form that the books accept. The last month
// waits for review, and some transactions have tags.
func (a *App) seedRows(h *household.Household, accounts []id.ID) iter.Seq[ledger.Incoming] {
	review := h.Options.End.AddDate(0, -1, 0)
	return func(yield func(ledger.Incoming) bool) {
		n := 0
		for r := range h.Transactions() {
			n++
			in := ledger.Incoming{
				AccountID: accounts[r.AccountIndex], ProviderID: r.ProviderID, Date: pg.Day(r.Date), Amount: r.Amount,
				Currency: r.Currency, Name: r.Name, MerchantName: r.MerchantName, Detail: r.Detail,
				CategoryPrimary: r.RawPrimary, CategoryDetailed: r.RawDetailed,
				Pending: r.Pending, Extra: bank.Extra{PaymentChannel: r.PaymentChannel},
			}
			if r.AuthorizedDate != nil {
				in.AuthorizedDate = new(pg.Day(*r.AuthorizedDate))
			}
			if r.Datetime != nil {
				in.Datetime = new(pg.At(*r.Datetime))
			}
			if r.Date.After(review) {
				in.Tags = append(in.Tags, "needs-review")
			}
			if n%3 == 0 {
				in.Tags = append(in.Tags, "shared")
			}
			if n%50 == 0 {
				in.Tags = append(in.Tags, "reimbursable")
			}
			if r.Kind == household.Foreign && r.Date.Month() == time.August {
				in.Tags = append(in.Tags, "trip:summer")
			}
			if !yield(in) {
				return
			}
		}
	}
}

// take returns the next n transactions from next.
func take(next func() (ledger.Incoming, bool), n int) iter.Seq[ledger.Incoming] {
	return func(yield func(ledger.Incoming) bool) {
		for range n {
			r, ok := next()
			if !ok || !yield(r) {
				return
			}
		}
	}
}
