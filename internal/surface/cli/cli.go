// Package cli turns every op into a command, and runs it on a server or directly on the database.
// It does not know any use case; app adds the commands that are not ops.
package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// A Caller runs an op somewhere and returns its JSON or text.
type Caller interface {
	Call(ctx context.Context, o *op.Op, args map[string]any) ([]byte, error)
}

// A CLI configures the command line.
type CLI struct {
	Ops      []*op.Op
	Groups   map[string]string   // a sentence about each noun in the ops' names
	Meant    map[string]string   // commands, by words that people try for them
	Examples map[string][]string // arguments after the command in its help, by the op's name
	Flags    map[string]string   // a flag's text, by op and field or by field, if the op has none
	Empty    map[string]string   // what to do about an empty list, by the op's name
	// Also maps an op to a reading op whose result is shown below its record, both by name.
	Also map[string]string
	// Shows maps an op that starts a job to the op that shows its record. The record has the same
	// id as the job. The command shows the record when the job has ended.
	Shows map[string]string
	// Next returns what a person can do after a command, by the op's name; "" prints nothing.
	Next     map[string]func(args map[string]any, answer []byte) string
	Results  map[string]*op.Schema                        // of jobs, by kind
	JobOp    string                                       // the name of the op that shows a job
	Zone     func(context.Context, Caller) *time.Location // returns the household's time zone
	Version  string
	Server   string                                        // where ops run; "" for directly on the database
	Key      string                                        // the API key for Server
	Database bool                                          // a database is given
	Local    func(context.Context) (Caller, func(), error) // opens the database
	Extra    map[string][]*cobra.Command                   // commands beyond the ops, by group; "" for the top
	Out      io.Writer
	Err      io.Writer
	In       io.Reader
	Width    int // terminal width to assume; 0 detects it from Out
}

// Root returns the whole command line.
func (c *CLI) Root() *cobra.Command {
	root := &cobra.Command{
		Use:   "coffer",
		Short: "Your household's finances, self-hosted",
		Long: `coffer keeps your household's finances and serves them to the web app, a REST API and MCP tools.

If --server or COFFER_SERVER names a server, commands run on that server, with the key
in COFFER_API_KEY or from coffer login. Otherwise, if COFFER_DATABASE_URL is set, they
run directly on the database. Otherwise they run on the server chosen by coffer login.
On a terminal they print tables; in a pipe or with --json they print JSON.
To clear a flag marked (null clears), pass null or ''.`,
		Example: `  coffer serve
  coffer key create --name me --scope full_access
  coffer tag create --slug trip:japan-2026 --name "Japan 2026"
  coffer category list --json | jq '.[].slug'`,
		Version:       c.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("coffer {{.Version}}\n")
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SetFlagErrorFunc(badFlag)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().StringVar(&c.Server, "server", c.Server,
		"server to use instead of the database (COFFER_SERVER)")
	// The program reads this flag before it builds the command line.
	root.PersistentFlags().String("env-file", "", "file with settings, as systemd reads it; the environment wins")
	root.PersistentFlags().Bool("json", false, "print JSON on a terminal, too")
	root.AddGroup(&cobra.Group{ID: "service", Title: "Server commands:"},
		&cobra.Group{ID: "data", Title: "Data commands:"})
	for _, extra := range c.Extra[""] {
		extra.GroupID = "service"
		root.AddCommand(extra)
	}
	groups := map[string]*cobra.Command{}
	for _, extra := range c.Extra[""] { // an extra command named like a noun of the ops gets their verbs too
		groups[extra.Name()] = extra
	}
	for _, o := range c.Ops {
		if o.Route == "" || o.Own {
			continue
		}
		noun, verb, _ := strings.Cut(o.Name, ".")
		if groups[noun] == nil {
			groups[noun] = &cobra.Command{
				Use: noun, Short: strings.TrimSuffix(c.Groups[noun], "."), GroupID: "data",
				Args: c.noSuchCommand, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
			}
			groups[noun].AddCommand(c.Extra[noun]...)
			root.AddCommand(groups[noun])
		}
		groups[noun].AddCommand(c.command(o, verb))
	}
	root.Args = c.noSuchCommand
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	for _, noun := range groups { // a noun with one reading verb runs it, with its flags
		if verbs := noun.Commands(); len(verbs) == 1 && noun.GroupID == "data" &&
			slices.Contains([]string{"show", "get"}, verbs[0].Name()) {
			noun.Flags().AddFlagSet(verbs[0].Flags())
			noun.RunE = verbs[0].RunE
			if words := strings.TrimPrefix(verbs[0].Use, verbs[0].Name()); words != "" { // its arguments
				noun.Use, noun.Args = noun.Use+words, verbs[0].Args
			}
		}
	}
	return root
}

func (c *CLI) command(o *op.Op, verb string) *cobra.Command {
	use := verb
	var positional []string
	for _, p := range o.In.Props {
		if p.In == op.InPath {
			positional = append(positional, p.Name)
		}
	}
	if len(positional) > 0 {
		use += " <" + strings.Join(positional, "> <") + ">"
	}
	cmd := &cobra.Command{
		Use: use, Short: strings.TrimSuffix(o.Summary, "."), Long: o.Summary, Example: c.example(o, positional),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == len(positional) {
				return nil
			}
			return errs.New(errs.ValidationError, "%s; see: coffer %s --help", miscount(positional, len(args)),
				strings.ReplaceAll(o.Name, ".", " "))
		},
	}
	c.flags(cmd, o)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.run(cmd, o, positional, args) }
	return cmd
}

func flagName(field string) string { return strings.ReplaceAll(field, "_", "-") }

func (c *CLI) usage(o *op.Op, p op.Prop) string {
	text := strings.ReplaceAll(cmp.Or(p.Description, c.Flags[o.Name+"."+p.Name], c.Flags[p.Name]), "`", "")
	if p.Items != nil && nested(p.Items) {
		text += " (as JSON; can be repeated)"
	} else if nested(p.Schema) {
		text += " (as JSON)"
	}
	if len(p.Enum) > 0 {
		text += " (" + strings.Join(p.Enum, ", ") + ")"
	}
	if clears(o, p) {
		text += " (null clears)"
	}
	if p.Required {
		text += " (required)"
	}
	if p.Default != nil {
		text += fmt.Sprintf(" (default %v)", p.Default)
	}
	return strings.TrimSpace(text)
}

// miscount returns the error text for a wrong number of arguments.
func miscount(positional []string, given int) string {
	switch want := "<" + strings.Join(positional, "> <") + ">"; {
	case len(positional) == 0:
		return "this command takes no arguments, only flags"
	case given > len(positional):
		return "too many arguments; this command takes " + want
	default:
		return "missing " + want
	}
}

// example returns a command that can be copied: with the required inputs, and with those that have
// an example.
func (c *CLI) example(o *op.Op, positional []string) string {
	if lines := c.Examples[o.Name]; len(lines) > 0 {
		var all []string
		for _, line := range lines {
			all = append(all, strings.TrimRight("  coffer "+strings.Replace(o.Name, ".", " ", 1)+" "+line, " "))
		}
		return strings.Join(all, "\n")
	}
	words := []string{"  coffer", strings.ReplaceAll(o.Name, ".", " ")}
	for i, name := range positional {
		word := quoted(sampleOf(*o.In.Prop(name)))
		if i > 0 && word == sampleID {
			word = otherID
		}
		words = append(words, word)
	}
	text, kind := o.TextBody()
	if text != "" {
		words = append(words, "--file", cmp.Or(map[string]string{"text/csv": "statement.csv"}[kind], "categories.tsv"))
	}
	flags := 0
	for _, p := range o.In.Props {
		change := o.Method == http.MethodPatch && flags == 0 // a PATCH without any change would be refused
		if p.In == op.InPath || p.Name == text || !p.Required && !change && (p.Example == nil || flags > 2) {
			continue
		}
		flags++
		words = append(words, "--"+flagName(p.Name), quoted(sampleOf(p)))
	}
	return strings.Join(words, " ")
}

// The short ids that examples show.
const (
	sampleID = "k3xK9a2Q"
	otherID  = "m7Pz2LbR"
)

func sampleOf(p op.Prop) string {
	switch {
	case p.Example != nil:
		return fmt.Sprint(p.Example)
	case len(p.Enum) > 0:
		return p.Enum[0]
	case p.Name == "slug":
		return "trip:japan-2026"
	case p.Name == "id", p.Name == "into", strings.HasSuffix(p.Name, "_id"):
		return sampleID
	case p.Type == "integer":
		return "10"
	}
	return "Example"
}

func quoted(s string) string {
	if strings.ContainsAny(s, " '\"$") {
		return `"` + s + `"`
	}
	return s
}

func (c *CLI) run(cmd *cobra.Command, o *op.Op, positional, words []string) error {
	ctx, asJSON := cmd.Context(), c.asJSON(cmd)
	args, err := c.input(cmd, o, positional, words, asJSON)
	if err != nil {
		return failing{err, o}
	}
	caller, done, err := c.Open(ctx)
	if err != nil {
		return err
	}
	defer done()
	answer, err := c.call(ctx, cmd, caller, o, args)
	if err != nil {
		return failing{err, o}
	}
	if follow, _ := cmd.Flags().GetBool("follow"); !starts(o) && !follow {
		return c.print(ctx, caller, o, args, answer, asJSON)
	}
	answer, tasks, err := c.follow(ctx, cmd, caller, answer)
	if err != nil {
		return err
	}
	if show := c.Shows[o.Name]; show != "" {
		id := map[string]any{"id": tasks[0].ID}
		if answer, err = caller.Call(ctx, c.op(show), id); err != nil {
			return failing{err, o}
		}
		return cmp.Or(c.print(ctx, caller, c.op(show), id, answer, asJSON), failure(tasks))
	}
	if asJSON {
		err = c.PrintJSON(answer)
	} else if failure(tasks) == nil {
		err = c.tell(ctx, caller, tasks)
	}
	return cmp.Or(err, failure(tasks))
}

// asJSON reports whether the output is JSON: into a pipe, or because --json is set.
func (c *CLI) asJSON(cmd *cobra.Command) bool {
	forced, _ := cmd.Flags().GetBool("json")
	return forced || !c.onScreen()
}

// Open returns a Caller for the named server, or for the database.
func (c *CLI) Open(ctx context.Context) (Caller, func(), error) {
	server, key, err := c.Where()
	if err != nil {
		return nil, nil, err
	}
	if server != "" {
		return &remote{server: strings.TrimSuffix(strings.TrimSuffix(server, "/"), prefix), key: key}, func() {}, nil
	}
	return c.Local(ctx)
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// onScreen reports whether a person reads the output on a terminal.
func (c *CLI) onScreen() bool { return c.Width > 0 || IsTerminal(c.Out) }

// width returns the number of characters in a line of the terminal.
func (c *CLI) width() int {
	if c.Width > 0 {
		return c.Width
	}
	if f, ok := c.Out.(*os.File); ok {
		if n, _, err := term.GetSize(f.Fd()); err == nil && n > 20 {
			return n
		}
	}
	return 120
}

// sortedKeys returns a map's keys in sorted order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
