package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/qr"
	"coffer/internal/surface/rest"
	"coffer/internal/surface/signin"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
)

// own is the path of records that belong to the signed-in member, whatever their role.
const own = "/users/me/"

// proofOfOwn are the ops on a member's own records that need a recent sign-in.
var proofOfOwn = []string{"me.end-login-method"}

// adminOnly are the paths that a member who is not an admin may read but not change.
var adminOnly = []string{"/users", "/api-keys", "/settings", "/exports", "/notifications"}

// takeAway are the ops that end somebody's access. They need no recent sign-in, because ending
// access must always be easy.
var takeAway = []string{"key.revoke", "session.revoke", "assistant.revoke", "user.uninvite"}

// forAdmins marks the ops that only members who are admins may run, and the ops that need a recent
// sign-in.
func forAdmins(ops []*op.Op) []*op.Op {
	for _, o := range ops {
		if strings.HasPrefix(o.Path, own) {
			o.Proof = slices.Contains(proofOfOwn, o.Name)
			continue
		}
		o.Admin = slices.ContainsFunc(adminOnly, func(p string) bool {
			return o.Path == p ||
				strings.HasPrefix(o.Path, p+"/")
		})
		o.Proof = o.Admin && o.Writes && !slices.Contains(takeAway, o.Name)
	}
	return ops
}

// deskBody is the largest request body that the sign-in routes accept. Anyone can send requests
// there.
const deskBody = 64 << 10

// desk returns the routes with which people sign in.
func (a *App) desk() []rest.Raw {
	d := a.Desk
	if d == nil { // only the documents are built
		d = &signin.Desk{}
	}
	var out []rest.Raw
	routes := d.Routes()
	if a.OAuth != nil { // the documents list the OAuth routes elsewhere
		routes = append(routes, a.OAuth.Routes()...)
	}
	for _, r := range routes {
		// Pages are not in the document.
		if r.Name == "" && a.Desk == nil {
			continue
		}
		out = append(out, rest.Raw{
			Route: r.Pattern, Scope: op.Open, MaxBody: deskBody, Name: r.Name,
			Summary: r.Summary, In: r.In, Form: r.Form, Out: r.Out, Refusals: r.Refusals, Serve: r.Serve,
		})
	}
	return out
}

// setupLife is how long a setup link is valid.
const setupLife = 24 * time.Hour

// setupLink returns the link that creates the first admin. It works once.
func (a *App) setupLink(ctx context.Context) (string, error) {
	ticket, err := a.Auth.Issue(ctx, auth.SetupTicket, auth.Ticket{}, setupLife)
	return a.Config.base() + "/setup/" + ticket, err
}

// setupCommand creates the first admin from the terminal.
func setupCommand(config Config, in io.Reader) *cobra.Command {
	var admin auth.FirstAdmin
	var link bool
	setup := &cobra.Command{
		Use: "setup", Short: "Create the first admin", Args: cobra.NoArgs,
		Long: `Creates the first member who can sign in, directly in the database. It asks for values that are not passed as
flags. It asks for the password on a terminal; otherwise the password is the first line of standard input.
With --link it prints a link instead, to set up in a browser. The link works once and expires after a day.`,
		Example: "  coffer setup\n  coffer setup --name Robin --email robin@example.com < password.txt\n  coffer " +
			"setup --link",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return quietly(cmd.Context(), config, func(a *App) error {
				if err := a.opened(cmd.Context()); err != nil {
					return err
				}
				if link {
					at, err := a.setupLink(cmd.Context())
					if err == nil {
						_, err = fmt.Fprintln(cmd.OutOrStdout(), at)
					}
					return err
				}
				if err := askAdmin(&admin, in, cmd.ErrOrStderr()); err != nil {
					return err
				}
				u, err := a.Auth.SetUp(cmd.Context(), admin, "")
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is now an admin. Sign in with %s at %s/login\n", u.Name,
						admin.Email, config.base())
				}
				return err
			})
		},
	}
	setup.Flags().StringVar(&admin.Name, "name", "", "your name")
	setup.Flags().StringVar(&admin.Email, "email", "", "sign-in email; coffer never sends email")
	setup.Flags().BoolVar(&link, "link", false, "print a link to set up in a browser")
	return setup
}

// askAdmin asks for the missing values. It does not show a password while the person types it.
func askAdmin(admin *auth.FirstAdmin, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	line := func(question string) (string, error) {
		fmt.Fprint(out, question)
		text, err := lines.ReadString('\n')
		if err != nil && text == "" {
			return "", errs.New(errs.ValidationError,
				"missing value; pass it as a flag, or the password on standard input")
		}
		return strings.TrimRight(text, "\r\n"), nil
	}
	var err error
	if admin.Name == "" {
		if admin.Name, err = line("Your name: "); err != nil {
			return err
		}
	}
	if admin.Email == "" {
		if admin.Email, err = line("Email: "); err != nil {
			return err
		}
	}
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		admin.Password, err = line("")
		return err
	}
	fmt.Fprintf(out, "Password, at least %d characters: ", auth.MinPassword)
	raw, err := term.ReadPassword(file.Fd())
	fmt.Fprintln(out)
	admin.Password = string(raw)
	return err
}

// invitation returns the text that a terminal shows next to the link of an invitation.
func invitation(answer []byte) string {
	var made struct{ URL string }
	if json.Unmarshal(answer, &made) != nil || made.URL == "" {
		return ""
	}
	out := "\nShare this link only with the member: the first person to use it signs in as them. It won't be " +
		"shown again.\n"
	if onlyHere(made.URL) {
		return out + "It opens only on the computer that coffer runs on. For phones and other computers, start " +
			"coffer with\n`coffer serve --lan` or set COFFER_PUBLIC_URL, then create a new link.\n"
	}
	if code, err := qr.Encode(made.URL); err == nil {
		out += "\n" + code.String()
	}
	return out
}

// onlyHere reports whether an address always points to the computer of the person who opens it.
func onlyHere(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}
