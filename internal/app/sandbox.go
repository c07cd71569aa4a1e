package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"coffer/internal/banksim"
	"coffer/internal/cli"
	"coffer/internal/errs"
	"coffer/internal/household"
	"coffer/internal/id"
	"coffer/internal/modelsim"
	"coffer/internal/setting"
	"github.com/spf13/cobra"
)

// A sandbox is both bank providers and a model server as simulators on this machine. The banks move
// on while it runs.
type sandbox struct {
	plaidAddr, tellerAddr string
	modelAddr             string
	env                   string // file for the variables
	webhooks              string // base address of the server that is told
	pace                  time.Duration
	seed                  uint64
	rows                  int
	out                   io.Writer
	plaid                 *banksim.Plaid
	teller                *banksim.Teller
	model                 *modelsim.Server
}

const (
	sandboxSecret = "sandbox"
	// sandboxTeller signs Teller's webhooks; the server must know it to believe them.
	sandboxTeller = "sandbox-webhook-secret"
	// sandboxProvider and sandboxModel are how workflows name the simulated model.
	sandboxProvider = "openai_compatible"
	sandboxModel    = "dictionary"
)

// sandboxPrice is the price of the simulated model. It is known to be zero, so that runs with a
// limit on what they cost can use it.
var sandboxPrice = map[string]any{"model": sandboxModel, "input_usd": "0", "output_usd": "0"}

func sandboxCommand(c *cli.CLI) *cobra.Command {
	s := &sandbox{}
	cmd := &cobra.Command{
		Use: "sandbox", Args: cobra.NoArgs,
		Short: "Run simulated banks and a simulated model on this machine, to try both without an account anywhere",
		Long: `Runs a simulated Plaid, a simulated Teller and a simulated model on this machine until it is interrupted, and
prints the variables with which coffer serve talks to them. Their banks hold two years of a made-up household up to
today; while it runs, new transactions come in, pending ones are posted, and now and then one vanishes.
What is linked lasts as long as it runs.

The model files by a small dictionary of payees and by what people decided before. It costs nothing. If the household
can be reached and has no default model yet, this one becomes the default.`,
		Example: "  coffer sandbox --env sandbox.env",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.out = cmd.OutOrStdout()
			return s.run(cmd.Context(), c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.plaidAddr, "plaid", "127.0.0.1:9401", "where Plaid is to be, on the loopback")
	f.StringVar(&s.tellerAddr, "teller", "127.0.0.1:9402", "where Teller is to be, on the loopback")
	f.StringVar(&s.modelAddr, "model", "127.0.0.1:9403", "where the model is to be, on the loopback")
	f.StringVar(&s.env, "env", "", "also write the variables to this file, for a shell to read")
	f.StringVar(&s.webhooks, "webhooks", "", "send signed webhooks to this server: http://127.0.0.1:8080")
	f.DurationVar(&s.pace, "pace", 20*time.Second, "how often something happens at a bank; 0 for never")
	f.Uint64Var(&s.seed, "seed", 0, "which household; a different one each time if 0")
	f.IntVar(&s.rows, "transactions", 4000, "how many transactions the household has")
	return cmd
}

func (s *sandbox) run(ctx context.Context, c *cli.CLI) error {
	if err := s.start(); err != nil {
		return err
	}
	defer s.close()
	fmt.Fprintf(s.out, "A simulated Plaid, a simulated Teller and a simulated model are running on this machine; "+
		"no real bank and no\nreal model is involved. Give these to coffer serve:\n\n%s\n", s.variables())
	if s.env != "" {
		if err := os.WriteFile(s.env, []byte(s.variables()), 0o600); err != nil {
			return errs.Wrap(err, errs.ValidationError, "the variables cannot be written to %s", s.env)
		}
		fmt.Fprintf(s.out, "They are also in %s: . ./%s\n", s.env, s.env)
	}
	fmt.Fprint(s.out, "Then link a bank:\n\n  coffer connection link --provider plaid\n\n")
	chosen, err := s.choose(ctx, c)
	switch {
	case err != nil:
		if server, _, _ := c.Where(); server != "" || c.Database {
			fmt.Fprintf(s.out, "The household's default model could not be set: %s\n\n", errs.LogText(err))
		}
		price, _ := json.Marshal(sandboxPrice) //nolint:errchkjson // three strings
		fmt.Fprintf(s.out, "To let an agent file what waits for review, make the simulated model the default and "+
			"run the agent:\n\n  coffer model set --provider %[1]s --prices '%[2]s'\n"+
			"  coffer agent update --default-provider %[1]s --default-model %[3]s\n",
			sandboxProvider, price, sandboxModel)
	case chosen != sandboxModel:
		fmt.Fprintf(s.out, "The household's default model is %s, and stays it. To let an agent file what waits "+
			"for review with the\nsimulated model instead:\n\n"+
			"  coffer workflow update review-queue --provider %s --model %s\n", chosen, sandboxProvider, sandboxModel)
	default:
		fmt.Fprint(s.out, "The simulated model is the household's default. Let an agent file what waits for "+
			"review:\n\n")
	}
	fmt.Fprint(s.out, "  coffer workflow run review-queue\n\nThe run changes nothing: it ends with a plan, and says "+
		"how to read and apply it.\n\nThe banks' activity follows; press Ctrl-C to stop.\n")
	s.live(ctx)
	return nil
}

// choose makes the simulated model the household's default, with its price, unless the household
// has another default. It returns the default model, or an error if the household cannot be
// reached: the sandbox itself needs no database.
func (s *sandbox) choose(ctx context.Context, c *cli.CLI) (string, error) {
	caller, done, err := c.Open(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	l := &linking{ops: c.Ops, caller: caller}
	var agents setting.Agents
	if err := l.ask(ctx, "agent.get", map[string]any{}, &agents); err != nil {
		return "", err
	}
	if agents.DefaultModel != nil && *agents.DefaultModel != sandboxModel {
		return *agents.DefaultModel, nil
	}
	var models map[string]struct {
		Prices []any `json:"prices"`
	}
	if err := l.ask(ctx, "model.get", map[string]any{}, &models); err != nil {
		return "", err
	}
	// The prices of a provider are set together, so the others are given again.
	prices := slices.DeleteFunc(models[sandboxProvider].Prices, func(p any) bool {
		known, _ := p.(map[string]any)
		return known["model"] == sandboxModel
	})
	if err := l.ask(ctx, "model.set", map[string]any{
		"provider": sandboxProvider, "prices": append(prices, sandboxPrice),
	}, &models); err != nil {
		return "", err
	}
	return sandboxModel, l.ask(ctx, "agent.update",
		map[string]any{"default_provider": sandboxProvider, "default_model": sandboxModel}, &agents)
}

func (s *sandbox) start() error {
	for _, addr := range []string{s.plaidAddr, s.tellerAddr, s.modelAddr} {
		host, _, err := net.SplitHostPort(addr)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return errs.New(errs.ValidationError, "the sandbox listens on this machine only: 127.0.0.1 and a port")
		}
	}
	if s.seed == 0 {
		s.seed = rand.Uint64N(1 << 40) //nolint:gosec // which made-up household is no secret
	}
	o := household.Options{Seed: s.seed, Transactions: s.rows, Years: 2, End: time.Now(), Purposes: true}
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
	if err == nil {
		s.model, err = modelsim.New(modelsim.Options{Addr: s.modelAddr, Models: []string{sandboxModel}})
	}
	if err != nil {
		s.close()
	}
	return err
}

// close stops the simulators that were started.
func (s *sandbox) close() {
	s.plaid.Close()
	if s.teller != nil {
		s.teller.Close()
	}
	if s.model != nil {
		s.model.Close()
	}
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
		{"OPENAI_URL", s.model.Base(modelsim.OpenAI)},
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
