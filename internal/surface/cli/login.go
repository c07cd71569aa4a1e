package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"github.com/spf13/cobra"
)

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// Login returns the command that gets a key for this machine, with subcommands that manage the
// keys.
func (c *CLI) Login() *cobra.Command {
	var scope, name string
	login := &cobra.Command{
		Use: "login", Short: "Log in to a server (an admin approves in a browser)", Args: cobra.NoArgs,
		Long: `Asks the server for an API key. An admin approves the request in a browser, on any machine. Commands then use
that server. The key is saved in your own configuration folder, where only you can read it.`,
		Example: "  coffer login --server https://coffer.example.com\n  coffer login status\n  coffer login switch " +
			"coffer.example.com",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Server == "" {
				return errs.New(errs.ValidationError,
					"pass the server: coffer login --server https://coffer.example.com")
			}
			if name == "" {
				name = clientName()
			}
			return deviceLogin(cmd.Context(), cmd.OutOrStdout(), c.Server, name, scope)
		},
	}
	login.Flags().StringVar(&scope, "scope", "read_only",
		"the scope to request: read_only or full_access; the admin decides")
	login.Flags().StringVar(&name, "name", "", "the key's name; this machine's name if omitted")
	login.AddCommand(
		&cobra.Command{
			Use: "status", Short: "Show the servers you're logged in to", Args: cobra.NoArgs,
			Example: "  coffer login status",
			RunE:    func(cmd *cobra.Command, _ []string) error { return c.status(cmd) },
		},
		&cobra.Command{
			Use: "switch <server>", Short: "Switch the default server", Args: cobra.MaximumNArgs(1),
			Example: "  coffer login switch coffer.example.com",
			RunE:    func(cmd *cobra.Command, args []string) error { return switchHost(cmd.OutOrStdout(), args) },
		},
		&cobra.Command{
			Use: "logout [server]", Short: "Log out of a server and revoke its key",
			Args: cobra.MaximumNArgs(1), Example: "  coffer login logout coffer.example.com",
			RunE: func(cmd *cobra.Command, args []string) error {
				return logout(cmd.Context(), cmd.OutOrStdout(),
					args)
			},
		},
	)
	return login
}

func clientName() string {
	if host, err := os.Hostname(); err == nil {
		return "coffer on " + host
	}
	return "coffer"
}

// deviceLogin runs the device grant of RFC 8628.
func deviceLogin(ctx context.Context, out io.Writer, server, name, scope string) error {
	at, err := serverURL(server)
	if err != nil {
		return err
	}
	if _, err := loadHosts(); err != nil { // fail before an admin is asked to approve
		return err
	}
	var asked struct {
		Code     string `json:"device_code"`
		User     string `json:"user_code"`
		URI      string `json:"verification_uri"`
		Expires  int    `json:"expires_in"`
		Interval int    `json:"interval"`
	}
	if fault, err := form(ctx, at+"/oauth/device_authorization", url.Values{"client_id": {name}, "scope": {scope}},
		&asked); err != nil || fault != "" {
		return grantFault(fault, err)
	}
	fmt.Fprintf(out, "Ask an admin to open\n\n  %s\n\nand enter this code:\n\n  %s\n\nWaiting…\n",
		plain(asked.URI), plain(asked.User))
	pause := time.Duration(max(asked.Interval, 1)) * time.Second
	deadline := time.Now().Add(time.Duration(asked.Expires) * time.Second)
	for time.Now().Before(deadline) {
		select {
		case <-ctx.Done():
			return errs.New(errs.Unavailable, "canceled; nothing was stored")
		case <-time.After(pause):
		}
		var got struct {
			Key   string `json:"access_token"`
			Scope string `json:"scope"`
		}
		fault, err := form(ctx, at+"/oauth/token", url.Values{
			"grant_type": {deviceGrant}, "device_code": {asked.Code},
			"client_id": {name},
		}, &got)
		switch {
		case errs.Is(err, errs.Unavailable), fault == "slow_down": // the network may recover
			pause += 5 * time.Second
		case err != nil:
			return err
		case fault == "authorization_pending":
		case fault != "":
			return grantFault(fault, nil)
		default:
			return keep(out, at, host{got.Key, plain(got.Scope)})
		}
	}
	return grantFault("expired_token", nil)
}

// keep stores a key. It reads the file only now: an admin took minutes to approve, and other logins
// may have changed the file meanwhile.
func keep(out io.Writer, at string, key host) error {
	h, err := loadHosts()
	if err != nil {
		return err
	}
	h.Keys[at], h.Current = key, at
	if err := h.save(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Logged in to %s (%s). Key saved in %s.\n", at, key.Scope, h.path)
	return err
}

func grantFault(fault string, err error) error {
	switch fault {
	case "":
		return err
	case "access_denied":
		return errs.New(errs.Forbidden, "an admin denied the request")
	case "expired_token":
		return errs.New(errs.Unavailable, "the request expired after ten minutes; try again")
	}
	return errs.New(errs.ValidationError, "the server responded %s; does it run this version of coffer?", plain(fault))
}

// plain removes characters that could control a terminal from a server's text.
func plain(s string) string { return Clean(s) }

// form posts a form and returns the response, or the error code of RFC 6749.
func form(ctx context.Context, address string, values url.Values, into any) (fault string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(values.Encode()))
	if err != nil {
		return "", errs.New(errs.ValidationError,
			"the server's address must be a URL, such as https://coffer.example.com")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := web.Do(req)
	if err != nil {
		return "", errs.Wrap(err, errs.Unavailable,
			"the server at %s does not respond; is it running, and is --server correct?", req.URL.Host)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end or failed already
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return "", errs.Wrap(err, errs.Unavailable, "the server's response was cut off; try again")
	}
	if err := elsewhere(res); err != nil {
		return "", err
	}
	if res.StatusCode == http.StatusOK && (into == nil || json.Unmarshal(raw, into) == nil) {
		return "", nil
	}
	var refusal struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(raw, &refusal) == nil && refusal.Error != "" {
		return refusal.Error, nil
	}
	var face errs.Face
	if json.Unmarshal(raw, &face) == nil && face.Error.Code != "" {
		return "", &errs.Error{Code: face.Error.Code, Message: face.Error.Message}
	}
	return "", errs.New(errs.Unavailable,
		"the server at this address responds with status %d but is not coffer; is --server correct?", res.StatusCode)
}

// A loginState is a server with a stored key, and whether the key works.
type loginState struct {
	Server  string `json:"server"`
	Current bool   `json:"current"`
	Scope   string `json:"scope"`
	State   string `json:"state"`
}

func (c *CLI) status(cmd *cobra.Command) error {
	h, err := loadHosts()
	if err != nil {
		return err
	}
	var text strings.Builder
	list := []loginState{}
	for _, at := range h.names() {
		s := loginState{Server: at, Current: at == h.Current, Scope: h.Keys[at].Scope, State: "good"}
		r := remote{at, h.Keys[at].Key}
		if _, err := r.send(cmd.Context(), http.MethodGet, prefix+"/keys/me", "", nil); err != nil {
			s.State = errs.Public(err, "").Message
		}
		mark := " "
		if s.Current {
			mark = "*"
		}
		fmt.Fprintf(&text, "%s %s  %s  %s\n", mark, at, s.Scope, plain(s.State))
		list = append(list, s)
	}
	if len(list) == 0 {
		text.WriteString("Not logged in to any server. Log in: coffer login --server " +
			"https://coffer.example.com\n")
	}
	return c.Say(cmd, text.String(), list)
}

func switchHost(out io.Writer, args []string) error {
	h, err := loadHosts()
	if err != nil {
		return err
	}
	to := ""
	switch others := h.names(); {
	case len(args) == 1:
		to, err = h.find(args[0])
	case len(others) == 2: // toggle between the two
		to = others[0]
		if to == h.Current {
			to = others[1]
		}
	default:
		err = errs.New(errs.ValidationError, "pass the server's name; coffer login status lists them")
	}
	if err != nil {
		return err
	}
	h.Current = to
	if err := h.save(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Commands now use %s.\n", to)
	return err
}

func logout(ctx context.Context, out io.Writer, args []string) error {
	h, err := loadHosts()
	if err != nil {
		return err
	}
	at := h.Current
	if len(args) == 1 {
		at, err = h.find(args[0])
	} else if at == "" {
		err = errs.New(errs.ValidationError, "you are not logged in to any server")
	}
	if err != nil {
		return err
	}
	revoked := "revoked"
	if fault, err := form(ctx, at+"/oauth/revoke", url.Values{"token": {h.Keys[at].Key}}, nil); err != nil ||
		fault != "" {
		revoked = "deleted here, but the server did not respond; ask an admin to revoke it"
	}
	delete(h.Keys, at)
	if h.Current == at {
		h.Current = ""
		if rest := h.names(); len(rest) > 0 {
			h.Current = rest[0]
		}
	}
	if err := h.save(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Logged out of %s. Key %s.\n", at, revoked)
	return err
}
