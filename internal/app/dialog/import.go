package dialog

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/surface/cli"
	"github.com/spf13/cobra"
)

// ImportCommand brings files from a bank: it shows the accounts of each, asks on a terminal where
// they go if nothing suggests it, imports them, and says whether the bank's balances add up. A file
// of coffer export goes to archive.
func ImportCommand(c *cli.CLI, archive func(cmd *cobra.Command, path string) error) *cobra.Command {
	b := &bringing{cli: c}
	cmd := &cobra.Command{
		Use: "import <file>…", Short: "Import statement files from your bank, or an archive of another installation",
		Long: `Shows the accounts in each file, and imports it: CSV, OFX, QFX, QIF, CAMT, MT940, Excel, or a zip file of them.
A file goes where earlier files of its kind went, or to the account with the file's number.
Otherwise the command asks on a terminal; elsewhere, pass --into or --new. A file that was imported before changes nothing.

An archive made by coffer export goes into an empty household: either completely or not at all. All hashes in
it are checked first. Banks must be reconnected, because an archive contains no credentials. Workflows are
disabled and model server addresses are not imported, so an archive cannot decide what runs here or where it
sends data.`,
		Example: "  coffer import statement.ofx\n  coffer import march.zip --into k3xK9a2Q\n" +
			"  coffer import card.csv --new Visa --bank \"Kreissparkasse\"\n  coffer import coffer.zip",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) == 1 && isArchive(files[0]) {
				return archive(cmd, files[0])
			}
			caller, done, err := c.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer done()
			b.Asker, b.out = Asker{c.Ops, caller}, cmd.OutOrStdout()
			b.asks = bufio.NewReader(c.In)
			b.person = isTerminal(c.In) && cli.IsTerminal(c.Out)
			for _, f := range files {
				if err := b.file(cmd.Context(), f); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&b.into, "into", "", "account for files that suggest none: UUID or short id")
	cmd.Flags().StringVar(&b.create, "new", "", "name of an account to create for it")
	cmd.Flags().StringVar(&b.bank, "bank", "", "bank of a new account, if the file doesn't say")
	cmd.Flags().BoolVar(&b.preview, "preview", false, "only show what would be imported")
	return cmd
}

// isArchive reports whether a file is an archive of coffer export.
func isArchive(path string) bool {
	r, err := zip.OpenReader(path)
	if err != nil {
		return false
	}
	defer r.Close() //nolint:errcheck // only read
	return slices.ContainsFunc(r.File, func(f *zip.File) bool { return f.Name == "manifest.json" })
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && cli.IsTerminal(f)
}

// A bringing is one run of the command.
type bringing struct {
	Asker
	out                io.Writer
	cli                *cli.CLI
	asks               *bufio.Reader
	person             bool // sits at the terminal
	into, create, bank string
	preview            bool
}

// The parts of the answers that the command shows.
type (
	broughtPoint struct {
		Day    string
		Amount json.Number
	}
	broughtProof struct {
		Status    string
		OffBy     json.Number `json:"off_by"`
		From, To  string
		Uncovered *struct {
			From, To string
			OffBy    json.Number `json:"off_by"`
		}
	}
	broughtAccount struct {
		Key, Name, IBAN, Mask string
		Currency              string `json:"iso_currency_code"`
		Type                  string
		Rows                  int
		Duplicates, Added     int64
		Likely                int64  `json:"likely_duplicates"`
		RowsSkipped           int64  `json:"rows_skipped"`
		RowsRejected          int64  `json:"rows_rejected"`
		AccountID             string `json:"account_id"`
		Opening, Closing      *broughtPoint
		Proof                 broughtProof
		Suggestion            struct {
			AccountID string `json:"account_id"`
		}
	}
	broughtPreview struct {
		Format          struct{ Title string }
		InstitutionName *string `json:"institution_name"`
		Accounts        []broughtAccount
		Warnings        []struct{ Message string }
	}
	householdAccount struct {
		ID           string
		ShortID      string `json:"short_id"`
		Name         string
		DisplayName  *string `json:"display_name"`
		ConnectionID *string `json:"connection_id"`
		Provider     string
	}
)

func (a householdAccount) called() string {
	if a.DisplayName != nil && *a.DisplayName != "" {
		return *a.DisplayName
	}
	return a.Name
}

func (a broughtAccount) called() string {
	switch {
	case a.Name != "":
		return cli.Clean(a.Name)
	case a.IBAN != "":
		return cli.Clean(a.IBAN)
	case a.Mask != "":
		return "account " + cli.Clean(a.Mask)
	case a.Key != "":
		return cli.Clean(a.Key)
	}
	return "account"
}

// file brings one file.
func (b *bringing) file(ctx context.Context, path string) error {
	raw, err := os.ReadFile(path) //nolint:gosec // the person who runs the command chooses the file
	if err != nil {
		return errs.New(errs.ValidationError, "cannot read the file: %v", err)
	}
	var p broughtPreview
	if err := b.Ask(ctx, "csv.preview", map[string]any{"csv": string(raw)}, &p); err != nil {
		return err
	}
	var mine []householdAccount
	if err := b.Ask(ctx, "account.list", map[string]any{}, &mine); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%s (%s)\n", filepath.Base(path), p.Format.Title)
	for _, w := range p.Warnings {
		fmt.Fprintf(b.out, "  Note: %s.\n", w.Message)
	}
	for _, a := range p.Accounts {
		b.show(a, a.Rows, mine)
	}
	if b.preview {
		return nil
	}
	choices, connection, err := b.choose(ctx, p, mine)
	if err != nil {
		return err
	}
	return b.bring(ctx, connection, map[string]any{
		"id": connection, "csv": string(raw), "accounts": choices, "file_name": filepath.Base(path),
	})
}

// show prints an account of a file.
func (b *bringing) show(a broughtAccount, rows int, mine []householdAccount) {
	added := int64(rows) - a.Duplicates - a.Likely
	fmt.Fprintf(b.out, "  %s: %d new, %d already imported", a.called(), added, a.Duplicates)
	if a.Likely > 0 {
		fmt.Fprintf(b.out, ", %d likely imported from another source", a.Likely)
	}
	fmt.Fprintln(b.out, ". "+proofWords(a.Proof, a.Currency))
	for _, m := range mine {
		if m.ID == a.Suggestion.AccountID {
			fmt.Fprintf(b.out, "    goes into %s (%s)\n", m.called(), m.ShortID)
		}
	}
}

// proofWords say what a file's balances prove.
func proofWords(p broughtProof, currency string) string {
	var out string
	switch p.Status {
	case "verified":
		out = fmt.Sprintf("Verified: the balances from %s to %s add up.", p.From, p.To)
	case "off":
		out = fmt.Sprintf("Off by %s %s between %s and %s.", p.OffBy, currency, p.From, p.To)
	case "open":
		out = "Its balance has nothing to compare with yet."
		if p.OffBy != "" {
			out = fmt.Sprintf("Open: %s %s moved between %s and %s, and no imported file lists all these days.",
				p.OffBy, currency, p.From, p.To)
		}
	default:
		out = "It states no balance."
	}
	if u := p.Uncovered; u != nil && p.Status != "open" {
		out += fmt.Sprintf(" No imported file lists all days between %s and %s.", u.From, u.To)
	}
	return out
}

// choose decides where each account goes, and with which connection.
func (b *bringing) choose(ctx context.Context, p broughtPreview, mine []householdAccount) (choices []any,
	connection string, err error,
) {
	named := map[string]bool{}
	for _, a := range p.Accounts {
		into, name := a.Suggestion.AccountID, ""
		if into == "" {
			if into, name, err = b.where(a, len(p.Accounts) == 1, mine); err != nil {
				return nil, "", err
			}
		}
		choice := map[string]any{"key": a.Key}
		switch {
		case into != "":
			choice["account_id"] = into
			for _, m := range mine {
				if (m.ID == into || m.ShortID == into) && m.ConnectionID != nil && connection == "" {
					connection = *m.ConnectionID
				}
			}
		case name != "":
			if named[name] { // the file says that they are two
				name += " " + cli.Clean(a.Key)
			}
			named[name] = true
			choice["create"] = map[string]any{"name": name}
		default:
			choice["skip"] = true
		}
		choices = append(choices, choice)
	}
	if connection == "" {
		connection, err = b.connect(ctx, p)
	}
	return choices, connection, err
}

// where asks into which account a file's account goes: one that is there, or a new one by name.
// The results are empty if the account is left out.
func (b *bringing) where(a broughtAccount, alone bool, mine []householdAccount) (into, name string, err error) {
	switch {
	case b.into != "" && alone:
		return b.into, "", nil
	case b.create != "" && alone:
		return "", b.create, nil
	case b.create != "":
		return "", b.create + " " + a.called(), nil
	case !b.person:
		return "", "", errs.New(errs.ValidationError, "nothing says into which account %q goes: pass --into with an "+
			"account, or --new with a name", a.called())
	}
	var open []householdAccount
	for _, m := range mine {
		if m.ConnectionID != nil {
			open = append(open, m)
			fmt.Fprintf(b.out, "    %2d  %s (%s)\n", len(open), m.called(), m.ShortID)
		}
	}
	fmt.Fprintf(b.out, "  Where does %s go? A number, a name for a new account, or nothing to leave it out: ",
		a.called())
	line, err := b.asks.ReadString('\n')
	if err != nil {
		return "", "", errs.New(errs.ValidationError, "nothing was imported")
	}
	line = strings.TrimSpace(line)
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(open) {
		return open[n-1].ID, "", nil
	}
	return "", line, nil
}

// connect returns the connection for the files of a bank, which is created if there is none.
func (b *bringing) connect(ctx context.Context, p broughtPreview) (string, error) {
	name := b.bank
	if name == "" && p.InstitutionName != nil {
		name = *p.InstitutionName
	}
	var all []struct {
		ID, Provider, Status string
		InstitutionName      *string `json:"institution_name"`
	}
	if err := b.Ask(ctx, "connection.list", map[string]any{}, &all); err != nil {
		return "", err
	}
	for _, c := range all {
		at := ""
		if c.InstitutionName != nil {
			at = *c.InstitutionName
		}
		if c.Provider == "csv" && c.Status != "disconnected" && strings.EqualFold(at, name) {
			return c.ID, nil
		}
	}
	args := map[string]any{"provider": "csv"}
	if name != "" {
		args["institution_name"] = name
	}
	var made struct{ ID string }
	err := b.Ask(ctx, "connection.create", args, &made)
	return made.ID, err
}

// bring imports a file and shows what it did.
func (b *bringing) bring(ctx context.Context, _ string, args map[string]any) error {
	var j struct {
		ID, State  string
		FinishedAt *string `json:"finished_at"`
		Error      *struct{ Code, Message string }
		Result     *struct {
			ChangeID *string `json:"change_id"`
			Accounts []broughtAccount
		}
	}
	if err := b.Ask(ctx, "csv.import", args, &j); err != nil {
		return err
	}
	for j.FinishedAt == nil {
		if err := b.Ask(ctx, "job.get", map[string]any{"job_id": j.ID, "wait": "5s"}, &j); err != nil {
			return err
		}
	}
	switch {
	case j.Error != nil:
		return errs.New(errs.Code(j.Error.Code), "%s", j.Error.Message)
	case j.Result == nil:
		return errs.New(errs.Conflict, "the import was canceled; nothing was imported")
	}
	var mine []householdAccount
	if err := b.Ask(ctx, "account.list", map[string]any{}, &mine); err != nil {
		return err
	}
	for _, a := range j.Result.Accounts {
		name := a.called()
		for _, m := range mine {
			if m.ID == a.AccountID {
				name = fmt.Sprintf("%s (%s)", m.called(), m.ShortID)
			}
		}
		fmt.Fprintf(b.out, "  Imported %d into %s. %s\n", a.Added, name, proofWords(a.Proof, a.Currency))
	}
	if j.Result.ChangeID != nil {
		fmt.Fprintf(b.out, "  Undo it: coffer change revert %s\n", *j.Result.ChangeID)
	}
	return nil
}
