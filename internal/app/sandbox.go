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

	"coffer/internal/app/dialog"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/seal"
	"coffer/internal/settings"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
	"coffer/internal/sim/models"
	"coffer/internal/surface/cli"
	"github.com/spf13/cobra"
)

// A sandbox runs simulators of all bank providers and of a model server on this machine. While it
// runs, new transactions appear at the banks.
type sandbox struct {
	plaidAddr, tellerAddr string
	simplefinAddr         string
	enablebankingAddr     string
	modelAddr             string
	env                   string // the file in which the variables are written
	webhooks              string // base address of the server that receives webhooks
	pace                  time.Duration
	seed                  uint64
	rows                  int
	out                   io.Writer
	plaid                 *banks.Plaid
	teller                *banks.Teller
	simplefin             *banks.SimpleFIN
	enablebanking         *banks.EnableBanking
	// The key of Enable Banking's application. It is in a file, because settings name a file.
	keyFile string
	model   *models.Server
}

const (
	sandboxSecret = "sandbox"
	// sandboxTeller is the key that signs Teller's webhooks. The server needs it to verify them.
	sandboxTeller = "sandbox-webhook-secret"
	// sandboxProvider and sandboxModel are the names of the simulated model in workflows.
	sandboxProvider = "openai_compatible"
	sandboxModel    = "dictionary"
)

// sandboxPrice is the price of the simulated model. It is set to zero and not left unknown, because
// a run with a cost limit needs a known price.
var sandboxPrice = map[string]any{"model": sandboxModel, "input_usd": "0", "output_usd": "0"}

func sandboxCommand(c *cli.CLI) *cobra.Command {
	s := &sandbox{}
	cmd := &cobra.Command{
		Use: "sandbox", Args: cobra.NoArgs,
		Short: "Run simulated banks and a simulated AI model locally",
		Long: `Runs simulated Plaid, Teller, SimpleFIN, Enable Banking and AI model servers on this machine until you stop it, and
prints the variables that coffer serve needs to use them. Their banks have two years of a fictional household's transactions up to today.
While it runs, new transactions arrive, pending ones are posted, and occasionally one is removed.
Connections work as long as the sandbox runs.

The model categorizes with a small dictionary of payees and from past decisions of people. It costs nothing. If the
household can be reached and has no default model yet, this one becomes the default.`,
		Example: "  coffer sandbox --env sandbox.env",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.out = cmd.OutOrStdout()
			return s.run(cmd.Context(), c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.plaidAddr, "plaid", "127.0.0.1:9401", "address for simulated Plaid (loopback)")
	f.StringVar(&s.tellerAddr, "teller", "127.0.0.1:9402", "address for simulated Teller (loopback)")
	f.StringVar(&s.simplefinAddr, "simplefin", "127.0.0.1:9404", "address for simulated SimpleFIN (loopback)")
	f.StringVar(&s.enablebankingAddr, "enablebanking", "127.0.0.1:9405",
		"address for simulated Enable Banking (loopback)")
	f.StringVar(&s.modelAddr, "model", "127.0.0.1:9403", "address for the simulated model (loopback)")
	f.StringVar(&s.env, "env", "", "also write the variables to this file, to load in a shell")
	f.StringVar(&s.webhooks, "webhooks", "", "send signed webhooks to this server: http://127.0.0.1:8080")
	f.DurationVar(&s.pace, "pace", 20*time.Second, "how often new bank activity appears; 0 for never")
	f.Uint64Var(&s.seed, "seed", 0, "seed for the household; random if 0")
	f.IntVar(&s.rows, "transactions", 4000, "number of transactions")
	return cmd
}

// loadable returns a path that a shell can load with ".": without a slash, the shell would search
// PATH.
func loadable(path string) string {
	if strings.Contains(path, "/") {
		return path
	}
	return "./" + path
}

func (s *sandbox) run(ctx context.Context, c *cli.CLI) error {
	if err := s.start(); err != nil {
		return err
	}
	defer s.close()
	fmt.Fprintf(s.out, "Simulated Plaid, Teller, SimpleFIN, Enable Banking and AI model are running on this machine. "+
		"No real bank or model is involved.\nStart coffer serve with these variables:\n\n%s\n", s.variables())
	if s.env != "" {
		if err := os.WriteFile(s.env, []byte(s.variables()), 0o600); err != nil {
			return errs.Wrap(err, errs.ValidationError, "the variables cannot be written to %s", s.env)
		}
		fmt.Fprintf(s.out, "They are also in %s: . %s\n", s.env, loadable(s.env))
	}
	fmt.Fprintf(s.out, "Then connect a bank:\n\n  coffer connection link --provider plaid\n\nFor SimpleFIN, use this "+
		"setup token, which works once (more at %s/create):\n\n  echo %s | coffer connection link --provider "+
		"simplefin\n\n", s.simplefin.URL(), s.simplefin.SetupToken())
	if s.keyFile != "" {
		fmt.Fprint(s.out, "For Enable Banking, choose one of its banks:\n\n  coffer connection link --provider "+
			"enablebanking --country DE --bank Musterbank\n\n")
	} else {
		fmt.Fprint(s.out, "Enable Banking is left out: its settings name a file with a key, and no temporary file "+
			"can be written. Set TMPDIR to a directory where it can.\n\n")
	}
	chosen, err := s.choose(ctx, c)
	switch {
	case err != nil:
		if server, _, _ := c.Where(); server != "" || c.Database {
			fmt.Fprintf(s.out, "The household default model could not be set: %s\n\n", errs.LogText(err))
		}
		price, _ := json.Marshal(sandboxPrice) //nolint:errchkjson // three strings
		fmt.Fprintf(s.out, "To categorize the review queue with AI, make the simulated model the default and "+
			"run the workflow:\n\n  coffer model set --provider %[1]s --prices '%[2]s'\n  coffer agent "+
			"update --default-provider %[1]s --default-model %[3]s\n",
			sandboxProvider, price, sandboxModel)
	case chosen != sandboxModel:
		fmt.Fprintf(s.out, "Your default model stays %s. To categorize the review queue with the simulated model "+
			"instead:\n\n  coffer workflow update review-queue --provider %s --model %s\n", chosen, sandboxProvider,
			sandboxModel)
	default:
		fmt.Fprint(s.out, "The simulated model is your default. To categorize the review queue with it:\n\n")
	}
	fmt.Fprint(s.out, "  coffer workflow run review-queue\n\nThe run doesn't change anything yet; it prints "+
		"how to review and apply its plan.\n\nBank activity appears below. Stop with Ctrl-C.\n")
	s.live(ctx)
	return nil
}

// choose makes the simulated model the household default, and sets its price, unless the household
// has another default. It returns the default model. It returns an error if it cannot reach the
// household; the sandbox runs without one.
func (s *sandbox) choose(ctx context.Context, c *cli.CLI) (string, error) {
	caller, done, err := c.Open(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	server := dialog.Asker{Ops: c.Ops, Caller: caller}
	var agents settings.Agents
	if err := server.Ask(ctx, "agent.get", map[string]any{}, &agents); err != nil {
		return "", err
	}
	if agents.DefaultModel != nil && *agents.DefaultModel != sandboxModel {
		return *agents.DefaultModel, nil
	}
	var models map[string]struct {
		Prices []any `json:"prices"`
	}
	if err := server.Ask(ctx, "model.get", map[string]any{}, &models); err != nil {
		return "", err
	}
	// The request replaces all prices of a provider, so it repeats the others.
	prices := slices.DeleteFunc(models[sandboxProvider].Prices, func(p any) bool {
		known, _ := p.(map[string]any)
		return known["model"] == sandboxModel
	})
	if err := server.Ask(ctx, "model.set", map[string]any{
		"provider": sandboxProvider, "prices": append(prices, sandboxPrice),
	}, &models); err != nil {
		return "", err
	}
	return sandboxModel, server.Ask(ctx, "agent.update",
		map[string]any{"default_provider": sandboxProvider, "default_model": sandboxModel}, &agents)
}

func (s *sandbox) start() error {
	for _, addr := range []string{s.plaidAddr, s.tellerAddr, s.simplefinAddr, s.enablebankingAddr, s.modelAddr} {
		host, _, err := net.SplitHostPort(addr)
		if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
			return errs.New(errs.ValidationError, "the sandbox only listens on this machine: use 127.0.0.1 "+
				"and a port")
		}
	}
	if s.seed == 0 {
		s.seed = rand.Uint64N(1 << 40) //nolint:gosec // which made-up household is no secret
	}
	return s.open(household.Options{Seed: s.seed, Transactions: s.rows, Years: 2, End: time.Now(), Purposes: true})
}

// open starts the simulators with the banks of the household o.
func (s *sandbox) open(o household.Options) error {
	var err error
	if s.plaid, err = banks.NewPlaid(banks.PlaidOptions{
		Addr: s.plaidAddr, ClientID: sandboxSecret,
		Secret: sandboxSecret, Household: o,
	}); err != nil {
		return err
	}
	s.teller, err = banks.NewTeller(banks.TellerOptions{
		Addr: s.tellerAddr, Sandbox: true, Household: o,
		Secrets: []string{sandboxTeller},
	})
	if err == nil {
		other := o // SimpleFIN serves another household's banks
		other.Seed, other.Family = o.Seed+1000, time.Time{}
		s.simplefin, err = banks.NewSimpleFIN(banks.SimpleFINOptions{Addr: s.simplefinAddr, Household: other})
	}
	if err == nil {
		abroad := o
		abroad.Seed, abroad.Family = o.Seed+2000, time.Time{}
		s.enablebanking, err = banks.NewEnableBanking(banks.EnableBankingOptions{
			Addr: s.enablebankingAddr, Household: abroad,
		})
	}
	if err == nil {
		s.keyFile = keyFile(s.enablebanking.Key())
	}
	if err == nil {
		s.model, err = models.New(models.Options{Addr: s.modelAddr, Models: []string{sandboxModel}})
	}
	if err != nil {
		s.close()
	}
	return err
}

// keyFile writes a key to a file that settings can name. It returns "" if it cannot write a file,
// as in a container without a writable directory. The sandbox then has one provider fewer.
func keyFile(key string) string {
	f, err := os.CreateTemp("", "coffer-sandbox-*.pem")
	if err != nil {
		return ""
	}
	_, err = f.WriteString(key)
	if closed := f.Close(); err != nil || closed != nil {
		_ = os.Remove(f.Name())
		return ""
	}
	return f.Name()
}

// close stops the simulators that were started.
func (s *sandbox) close() {
	if s.plaid != nil {
		s.plaid.Close()
	}
	if s.teller != nil {
		s.teller.Close()
	}
	if s.simplefin != nil {
		s.simplefin.Close()
	}
	if s.enablebanking != nil {
		s.enablebanking.Close()
	}
	if s.keyFile != "" {
		_ = os.Remove(s.keyFile)
	}
	if s.model != nil {
		s.model.Close()
	}
}

// Linked implements [family.Banks]. A sandbox of the same household creates the same items and
// tokens again.
func (s *sandbox) Linked() []map[string]any {
	public, _ := s.plaid.NewItem("")
	e := s.teller.Enroll()
	return []map[string]any{
		{"provider": "plaid", "credentials": map[string]any{"public_token": public}},
		{"provider": "teller", "credentials": map[string]any{"access_token": e.AccessToken, "enrollment_id": e.ID}},
	}
}

// Reach implements [family.Banks].
func (s *sandbox) Reach(o household.Options) {
	for _, b := range append(s.plaid.Books(), s.teller.Books()...) {
		b.Reach(o)
	}
}

// values sets the simulators in place of the providers and models of the environment.
func (s *sandbox) values(c *Config) {
	c.Providers = Providers{
		"plaid": {
			"client_id": sandboxSecret, "secret": sandboxSecret, "environment": "sandbox", "url": s.plaid.URL(),
		},
		"teller":    {"application_id": "app_sandbox", "environment": "sandbox", "url": s.teller.URL()},
		"simplefin": {"url": s.simplefin.URL()},
	}
	if s.keyFile != "" {
		c.Providers["enablebanking"] = map[string]string{
			"application": s.enablebanking.Application(), "key": s.keyFile, "url": s.enablebanking.URL(),
		}
	}
	c.AnthropicKey, c.AnthropicURL = seal.Secret{}, ""
	c.OpenAIKey, c.OpenAIURL = seal.Secret{}, s.model.Base(models.OpenAI)
}

// variables returns, in shell syntax, the environment that coffer serve needs to use the
// simulators.
func (s *sandbox) variables() string {
	var b strings.Builder
	variables := [][2]string{
		{"PLAID_CLIENT_ID", sandboxSecret},
		{"PLAID_SECRET", sandboxSecret},
		{"PLAID_ENVIRONMENT", "sandbox"},
		{"PLAID_URL", s.plaid.URL()},
		{"TELLER_APPLICATION_ID", "app_sandbox"},
		{"TELLER_ENVIRONMENT", "sandbox"},
		{"TELLER_URL", s.teller.URL()},
		{"SIMPLEFIN_URL", s.simplefin.URL()},
		{"OPENAI_URL", s.model.Base(models.OpenAI)},
	}
	if s.keyFile != "" {
		variables = append(variables, [][2]string{
			{"ENABLEBANKING_APPLICATION", s.enablebanking.Application()},
			{"ENABLEBANKING_KEY", s.keyFile},
			{"ENABLEBANKING_URL", s.enablebanking.URL()},
		}...)
	}
	for _, v := range variables {
		fmt.Fprintf(&b, "export %s%s=%s\n", prefix, v[0], v[1])
	}
	return b.String()
}

// live adds transactions at the banks and sends webhooks, at the sandbox's pace, until ctx ends.
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
		switch n % 4 {
		case 1:
			at, name, happens = s.teller.Live, "teller", s.tellTeller
		case 2:
			at, name, happens = s.simplefin.Live, "simplefin", nil
		case 3:
			at, name, happens = s.enablebanking.Live, "enablebanking", nil
		}
		turn, moved := at(dice)
		if !moved {
			continue
		}
		fmt.Fprintf(s.out, "%s  %-13s  %-7s  %10s %s  %s\n", time.Now().Format(time.TimeOnly), name, turn.What,
			turn.Row.Amount, turn.Row.Currency, turn.Row.Name.Plain())
		if s.webhooks == "" || happens == nil {
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
