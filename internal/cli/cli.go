// Package cli makes a command of every op, and runs it against a server or straight on the database.
// It knows no use case; commands beyond the ops are handed in by app.
package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/op"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// A Caller runs an op somewhere and answers its JSON or text.
type Caller interface {
	Call(ctx context.Context, o *op.Op, args map[string]any) ([]byte, error)
}

// A CLI is what the command line is made of.
type CLI struct {
	Ops      []*op.Op
	Groups   map[string]string // what each noun of the ops' names is, in a sentence
	Version  string
	Server   string                                        // where ops run; "" for straight on the database
	Key      string                                        // the API key for Server
	Database bool                                          // a database is given
	Local    func(context.Context) (Caller, func(), error) // opens the database
	Extra    map[string][]*cobra.Command                   // commands beyond the ops, by group; "" for the top
	Out      io.Writer
	Err      io.Writer
	In       io.Reader
}

// Root is the whole command line.
func (c *CLI) Root() *cobra.Command {
	root := &cobra.Command{
		Use:   "coffer",
		Short: "Keeps a household's financial data: exact, private, reversible.",
		Long: `coffer keeps a household's financial data and serves it over a REST API and MCP tools.

Commands run against a server when --server or COFFER_SERVER names one (with the key
in COFFER_API_KEY, or the one from coffer login), straight on the database when
COFFER_DATABASE_URL is set, and else on the server that coffer login chose.
On a terminal they print tables; into a pipe, or with --json, they print JSON.`,
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
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return misuse(cmd, "%v", err) })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().StringVar(&c.Server, "server", c.Server, "run on this server instead of the database (COFFER_SERVER)")
	root.PersistentFlags().Bool("json", false, "print JSON even on a terminal")
	root.AddGroup(&cobra.Group{ID: "service", Title: "The service:"}, &cobra.Group{ID: "data", Title: "The household's data:"})
	for _, extra := range c.Extra[""] {
		extra.GroupID = "service"
		root.AddCommand(extra)
	}
	groups := map[string]*cobra.Command{}
	for _, extra := range c.Extra[""] { // a command that is called as a noun of the ops holds their verbs too
		groups[extra.Name()] = extra
	}
	for _, o := range c.Ops {
		if o.Route == "" {
			continue
		}
		noun, verb, _ := strings.Cut(o.Name, ".")
		if groups[noun] == nil {
			groups[noun] = &cobra.Command{Use: noun, Short: strings.TrimSuffix(c.Groups[noun], "."), GroupID: "data", Args: noSuchVerb, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
			groups[noun].AddCommand(c.Extra[noun]...)
			root.AddCommand(groups[noun])
		}
		groups[noun].AddCommand(c.command(o, verb))
	}
	root.Args = noSuchVerb
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	for _, noun := range groups { // the only thing that can be done with it is what its name asks for
		if verbs := noun.Commands(); len(verbs) == 1 && noun.GroupID == "data" && (verbs[0].Use == "show" || verbs[0].Use == "get") {
			noun.RunE = func(cmd *cobra.Command, _ []string) error {
				verbs[0].SetContext(cmd.Context())
				return verbs[0].RunE(verbs[0], nil)
			}
		}
	}
	return root
}

// misuse is a command that was called wrongly, and where its help is.
func misuse(cmd *cobra.Command, format string, args ...any) error {
	return errs.New(errs.ValidationError, format+"; see: %s --help", append(args, cmd.CommandPath())...)
}

// noSuchVerb refuses what is no command, and says which one may have been meant.
func noSuchVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return misuse(cmd, "there is no command %q here (did you mean %s?)", args[0], strings.Join(near, " or "))
	}
	return misuse(cmd, "there is no command %q here", args[0])
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
		use += " " + wanted(positional)
	}
	cmd := &cobra.Command{
		Use: use, Short: strings.TrimSuffix(o.Summary, "."), Long: o.Summary, Example: example(o, positional),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == len(positional) {
				return nil
			}
			return errs.New(errs.ValidationError, "give %s; see: coffer %s --help", wanted(positional), strings.ReplaceAll(o.Name, ".", " "))
		},
	}
	text, _ := o.TextBody()
	for _, p := range o.In.Props {
		switch {
		case p.In == op.InPath:
		case p.Name == text:
			cmd.Flags().String("file", "-", "the file to read; - is standard input")
		case p.Type == "boolean":
			cmd.Flags().Bool(flagName(p.Name), false, usage(p))
		case p.Type == "array":
			cmd.Flags().StringSlice(flagName(p.Name), nil, usage(p))
		default:
			cmd.Flags().String(flagName(p.Name), "", usage(p))
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.run(cmd, o, positional, args) }
	return cmd
}

func flagName(field string) string { return strings.ReplaceAll(field, "_", "-") }

func usage(p op.Prop) string {
	text := strings.ReplaceAll(p.Description, "`", "")
	if len(p.Enum) > 0 {
		text += " (" + strings.Join(p.Enum, ", ") + ")"
	}
	if p.Nullable {
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

func wanted(positional []string) string {
	if len(positional) == 0 {
		return "no arguments, only flags"
	}
	return "<" + strings.Join(positional, "> <") + ">"
}

// example is a command that can be copied: what is required, and what has an example of its own.
func example(o *op.Op, positional []string) string {
	words := []string{"  coffer", strings.ReplaceAll(o.Name, ".", " ")}
	for _, name := range positional {
		words = append(words, quoted(sampleOf(*o.In.Prop(name))))
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

func sampleOf(p op.Prop) string {
	switch {
	case p.Example != nil:
		return fmt.Sprint(p.Example)
	case len(p.Enum) > 0:
		return p.Enum[0]
	case p.Name == "slug":
		return "trip:japan-2026"
	case p.Name == "id", p.Name == "into", strings.HasSuffix(p.Name, "_id"):
		return "k3xK9a2Q"
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

func (c *CLI) run(cmd *cobra.Command, o *op.Op, positional, values []string) error {
	given := map[string][]string{}
	for i, name := range positional {
		given[name] = []string{values[i]}
	}
	args := map[string]any{}
	forced, _ := cmd.Flags().GetBool("json")
	asJSON := forced || !IsTerminal(c.Out)
	text, _ := o.TextBody()
	for _, p := range o.In.Props {
		if p.Name == text {
			path, _ := cmd.Flags().GetString("file")
			body, err := c.read(path)
			if err != nil {
				return err
			}
			args[text] = body
			continue
		}
		flag := cmd.Flags().Lookup(flagName(p.Name))
		if p.In == op.InPath || flag == nil || !flag.Changed {
			if p.Screen != "" && !asJSON {
				given[p.Name] = []string{p.Screen}
			}
			continue
		}
		if p.Type == "array" {
			given[p.Name], _ = cmd.Flags().GetStringSlice(flag.Name)
		} else {
			given[p.Name] = []string{flag.Value.String()}
		}
	}
	if err := o.FromText(args, given); err != nil {
		return err
	}
	caller, done, err := c.Open(cmd.Context())
	if err != nil {
		return err
	}
	defer done()
	answer, err := caller.Call(cmd.Context(), o, args)
	if err != nil {
		return err
	}
	return c.print(o, answer, asJSON)
}

func (c *CLI) read(path string) (string, error) {
	if path == "-" {
		b, err := io.ReadAll(c.In)
		return string(b), err
	}
	b, err := os.ReadFile(path) //nolint:gosec // the person at the keyboard names a file of theirs
	if err != nil {
		return "", errs.New(errs.ValidationError, "cannot read the file: %v", err)
	}
	return string(b), nil
}

// Open is where ops run: the server that is named, or the database.
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

// Fail prints an error for its reader and answers the exit code: 2 for a wrong call, 3 for a missing right, 4 for nothing found, 5 for a conflict, 1 for the rest.
func (c *CLI) Fail(err error, asJSON bool) int {
	e, ok := errors.AsType[*errs.Error](err)
	if !ok {
		fmt.Fprintf(c.Err, "coffer: %v\n", err)
		return 1
	}
	if asJSON {
		b, _ := json.Marshal(e.Face()) //nolint:errchkjson // strings always encode
		fmt.Fprintln(c.Err, string(b))
	} else {
		fmt.Fprintf(c.Err, "coffer: %s (%s)\n", e.Message, e.Code)
		if len(e.Details) > 1 {
			for _, d := range e.Details {
				fmt.Fprintf(c.Err, "  %s %s\n", flagName(d.Field), d.Message)
			}
		}
	}
	codes := map[errs.Kind]int{errs.KindInvalid: 2, errs.KindUnauthenticated: 3, errs.KindForbidden: 3, errs.KindNotFound: 4, errs.KindConflict: 5, errs.KindPrecondition: 5}
	return max(codes[e.Kind()], 1)
}

// IsTerminal reports whether w is a person's screen.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(f.Fd()); err == nil && n > 20 {
			return n
		}
	}
	return 120
}

func (c *CLI) print(o *op.Op, answer []byte, asJSON bool) error {
	switch {
	case len(answer) == 0:
		return nil
	case o.TextOut != "":
		_, err := c.Out.Write(answer)
		return err
	case asJSON:
		_, err := fmt.Fprintln(c.Out, string(answer))
		return err
	}
	return Table(c.Out, o.Out, answer, width(c.Out))
}

// sortedKeys keeps what a map holds in one order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
