package app

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"coffer/internal/banksim"
	"coffer/internal/errs"
	"coffer/internal/household"
	"coffer/internal/id"
	"github.com/spf13/cobra"
)

// A sandbox is both providers as simulators on this machine, whose banks move on while it runs.
type sandbox struct {
	plaidAddr, tellerAddr string
	env                   string // file for the variables
	webhooks              string // base address of the server that is told
	pace                  time.Duration
	seed                  uint64
	rows                  int
	out                   io.Writer
	plaid                 *banksim.Plaid
	teller                *banksim.Teller
}

const (
	sandboxSecret = "sandbox"
	// sandboxTeller signs Teller's webhooks; the server must know it to believe them.
	sandboxTeller = "sandbox-webhook-secret"
)

func sandboxCommand() *cobra.Command {
	s := &sandbox{}
	cmd := &cobra.Command{
		Use: "sandbox", Short: "Run simulated banks on this machine, to link and sync without an account anywhere",
		Args: cobra.NoArgs,
		Long: `Runs a simulated Plaid and a simulated Teller on this machine until it is interrupted, and prints the
variables with which coffer serve talks to them. Their banks hold two years of a made-up household up to today;
while it runs, new transactions come in, pending ones are posted, and now and then one vanishes.
What is linked lasts as long as it runs.`,
		Example: "  coffer sandbox --env sandbox.env",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.out = cmd.OutOrStdout()
			return s.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.plaidAddr, "plaid", "127.0.0.1:9401", "where Plaid is to be, on the loopback")
	f.StringVar(&s.tellerAddr, "teller", "127.0.0.1:9402", "where Teller is to be, on the loopback")
	f.StringVar(&s.env, "env", "", "also write the variables to this file, for a shell to read")
	f.StringVar(&s.webhooks, "webhooks", "", "send signed webhooks to this server: http://127.0.0.1:8080")
	f.DurationVar(&s.pace, "pace", 20*time.Second, "how often something happens at a bank; 0 for never")
	f.Uint64Var(&s.seed, "seed", 0, "which household; a different one each time if 0")
	f.IntVar(&s.rows, "transactions", 4000, "how many transactions the household has")
	return cmd
}

func (s *sandbox) run(ctx context.Context) error {
	if err := s.start(); err != nil {
		return err
	}
	defer s.plaid.Close()
	defer s.teller.Close()
	fmt.Fprintf(s.out, "A simulated Plaid and a simulated Teller are running on this machine; no real bank is "+
		"involved.\nGive these to coffer serve:\n\n%s\n", s.variables())
	if s.env != "" {
		if err := os.WriteFile(s.env, []byte(s.variables()), 0o600); err != nil {
			return errs.Wrap(err, errs.ValidationError, "the variables cannot be written to %s", s.env)
		}
		fmt.Fprintf(s.out, "They are also in %s: . ./%s\n", s.env, s.env)
	}
	fmt.Fprint(s.out, "Then link a bank: coffer connection link --provider plaid\n\nThe banks' activity follows; "+
		"press Ctrl-C to stop.\n")
	s.live(ctx)
	return nil
}

func (s *sandbox) start() error {
	for _, addr := range []string{s.plaidAddr, s.tellerAddr} {
		host, _, err := net.SplitHostPort(addr)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return errs.New(errs.ValidationError, "the sandbox listens on this machine only: 127.0.0.1 and a port")
		}
	}
	if s.seed == 0 {
		s.seed = rand.Uint64N(1 << 40) //nolint:gosec // which made-up household is no secret
	}
	o := household.Options{Seed: s.seed, Transactions: s.rows, Years: 2, End: time.Now()}
	var err error
	if s.plaid, err = banksim.NewPlaid(banksim.PlaidOptions{
		Addr: s.plaidAddr, ClientID: sandboxSecret,
		Secret: sandboxSecret, Household: o,
	}); err != nil {
		return err
	}
	s.teller, err = banksim.NewTeller(banksim.TellerOptions{
		Addr: s.tellerAddr, Sandbox: true, Household: o,
		Secrets: []string{sandboxTeller},
	})
	if err != nil {
		s.plaid.Close()
	}
	return err
}

// variables are what coffer serve needs to talk to the simulators, for a shell.
func (s *sandbox) variables() string {
	var b strings.Builder
	for _, v := range [][2]string{
		{"PLAID_CLIENT_ID", sandboxSecret},
		{"PLAID_SECRET", sandboxSecret},
		{"PLAID_ENVIRONMENT", "sandbox"},
		{"PLAID_URL", s.plaid.URL()},
		{"TELLER_APPLICATION_ID", "app_sandbox"},
		{"TELLER_ENVIRONMENT", "sandbox"},
		{"TELLER_URL", s.teller.URL()},
	} {
		fmt.Fprintf(&b, "export %s%s=%s\n", prefix, v[0], v[1])
	}
	return b.String()
}

// live lets things happen until ctx ends.
func (s *sandbox) live(ctx context.Context) {
	dice := rand.New(rand.NewPCG(s.seed, 1)) //nolint:gosec // a made-up household's days
	if s.pace <= 0 {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(s.pace)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		at, name, happens := s.plaid.Live, "plaid", s.tellPlaid
		if n%2 == 1 {
			at, name, happens = s.teller.Live, "teller", s.tellTeller
		}
		turn, moved := at(dice)
		if !moved {
			continue
		}
		fmt.Fprintf(s.out, "%s  %-6s  %-7s  %10s %s  %s\n", time.Now().Format(time.TimeOnly), name, turn.What,
			turn.Row.Amount, turn.Row.Currency, turn.Row.Name.Plain())
		if s.webhooks == "" {
			continue
		}
		if err := happens(ctx, turn.Book.ID()); err != nil && ctx.Err() == nil {
			fmt.Fprintf(s.out, "          the server did not accept the webhook: %v\n", err)
		}
	}
}

func (s *sandbox) tellPlaid(ctx context.Context, item string) error {
	d, err := s.plaid.Webhook(item, "TRANSACTIONS", "SYNC_UPDATES_AVAILABLE",
		map[string]any{"initial_update_complete": true, "historical_update_complete": true})
	if err != nil {
		return err
	}
	return d.Send(ctx, strings.TrimSuffix(s.webhooks, "/")+"/webhooks/plaid")
}

func (s *sandbox) tellTeller(ctx context.Context, enrolment string) error {
	d, err := s.teller.Webhook("wh_"+id.Base62(20), "transactions.processed",
		map[string]any{"enrollment_id": enrolment, "transactions": []any{}})
	if err != nil {
		return err
	}
	return d.Send(ctx, strings.TrimSuffix(s.webhooks, "/")+"/webhooks/teller")
}
