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

	"coffer/internal/errs"
	"github.com/spf13/cobra"
)

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// Login is the command that gets a key for this machine, and those that look after the keys it has.
func (c *CLI) Login() *cobra.Command {
	var scope, name string
	login := &cobra.Command{
		Use: "login", Short: "Get a key for a server, granted by an admin in a browser", Args: cobra.NoArgs,
		Long: `Asks the server for a key. An admin of the household grants it on a page of the server, on any machine;
then commands run on that server. The key is kept in your own configuration folder, readable by you alone.`,
		Example: "  coffer login --server https://coffer.example.com\n  coffer login status\n  coffer login switch coffer.example.com",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.Server == "" {
				return errs.New(errs.ValidationError, "say which server: coffer login --server https://coffer.example.com")
			}
			if name == "" {
				name = clientName()
			}
			return deviceLogin(cmd.Context(), cmd.OutOrStdout(), c.Server, name, scope)
		},
	}
	login.Flags().StringVar(&scope, "scope", "read_only", "what to ask for: read_only or full_access; the admin decides")
	login.Flags().StringVar(&name, "name", "", "what the key is called; this machine if omitted")
	login.AddCommand(
		&cobra.Command{
			Use: "status", Short: "List the servers that you have keys for, and try them", Args: cobra.NoArgs, Example: "  coffer login status",
			RunE: func(cmd *cobra.Command, _ []string) error { return status(cmd.Context(), cmd.OutOrStdout()) },
		},
		&cobra.Command{
			Use: "switch <server>", Short: "Choose the server that commands run on", Args: cobra.MaximumNArgs(1), Example: "  coffer login switch coffer.example.com",
			RunE: func(cmd *cobra.Command, args []string) error { return switchHost(cmd.OutOrStdout(), args) },
		},
		&cobra.Command{
			Use: "logout [server]", Short: "Forget a server's key, and revoke it there", Args: cobra.MaximumNArgs(1), Example: "  coffer login logout coffer.example.com",
			RunE: func(cmd *cobra.Command, args []string) error { return logout(cmd.Context(), cmd.OutOrStdout(), args) },
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
	if _, err := loadHosts(); err != nil { // before anyone is asked for anything
		return err
	}
	var asked struct {
		Code     string `json:"device_code"`
		User     string `json:"user_code"`
		URI      string `json:"verification_uri"`
		Expires  int    `json:"expires_in"`
		Interval int    `json:"interval"`
	}
	if fault, err := form(ctx, at+"/oauth/device_authorization", url.Values{"client_id": {name}, "scope": {scope}}, &asked); err != nil || fault != "" {
		return grantFault(fault, err)
	}
	fmt.Fprintf(out, "An admin of the household opens\n\n  %s\n\nand enters the code\n\n  %s\n\nWaiting …\n", plain(asked.URI), plain(asked.User))
	pause := time.Duration(max(asked.Interval, 1)) * time.Second
	deadline := time.Now().Add(time.Duration(asked.Expires) * time.Second)
	for time.Now().Before(deadline) {
		select {
		case <-ctx.Done():
			return errs.New(errs.Unavailable, "broken off; nothing was stored")
		case <-time.After(pause):
		}
		var got struct {
			Key   string `json:"access_token"`
			Scope string `json:"scope"`
		}
		fault, err := form(ctx, at+"/oauth/token", url.Values{"grant_type": {deviceGrant}, "device_code": {asked.Code}, "client_id": {name}}, &got)
		switch {
		case errs.Is(err, errs.Unavailable), fault == "slow_down": // the network may be back in a moment
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

// keep stores a key. The file is read only now: in the minutes that an admin took, others may have logged in elsewhere.
func keep(out io.Writer, at string, key host) error {
	h, err := loadHosts()
	if err != nil {
		return err
	}
	h.Keys[at], h.Current = key, at
	if err := h.save(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "You are logged in to %s (%s). The key is in %s.\n", at, key.Scope, h.path)
	return err
}

func grantFault(fault string, err error) error {
	switch fault {
	case "":
		return err
	case "access_denied":
		return errs.New(errs.Forbidden, "an admin refused")
	case "expired_token":
		return errs.New(errs.Unavailable, "nobody granted the key within ten minutes; try again")
	}
	return errs.New(errs.ValidationError, "the server answers %s; is it a coffer of this version?", plain(fault))
}

// plain is what a server said, without what could steer a terminal.
func plain(s string) string { return cell(s) }

// form posts a form and reads the answer, or which error of RFC 6749 it is.
func form(ctx context.Context, address string, values url.Values, into any) (fault string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(values.Encode()))
	if err != nil {
		return "", errs.New(errs.ValidationError, "the server's address is not a URL; it looks like https://coffer.example.com")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := web.Do(req)
	if err != nil {
		return "", errs.Wrap(err, errs.Unavailable, "the server at %s does not answer; is it running, and is --server right?", req.URL.Host)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end or failed already
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return "", errs.Wrap(err, errs.Unavailable, "the server's answer broke off; try again")
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
	return "", errs.New(errs.Unavailable, "the address answers with status %d, but not as coffer does; is --server right?", res.StatusCode)
}

func status(ctx context.Context, out io.Writer) error {
	h, err := loadHosts()
	if err != nil {
		return err
	}
	if len(h.Keys) == 0 {
		_, err := fmt.Fprintln(out, "You are logged in nowhere; coffer login --server https://coffer.example.com gets you a key.")
		return err
	}
	for _, at := range h.names() {
		mark, state := " ", "good"
		if at == h.Current {
			mark = "*"
		}
		r := remote{at, h.Keys[at].Key}
		if _, err := r.send(ctx, http.MethodGet, prefix+"/keys/me", "", nil); err != nil {
			state = errs.Public(err, "").Message
		}
		fmt.Fprintf(out, "%s %s  %s  %s\n", mark, at, h.Keys[at].Scope, plain(state))
	}
	return nil
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
	case len(others) == 2: // as a light switch
		to = others[0]
		if to == h.Current {
			to = others[1]
		}
	default:
		err = errs.New(errs.ValidationError, "say which server; coffer login status lists them")
	}
	if err != nil {
		return err
	}
	h.Current = to
	if err := h.save(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Commands run on %s now.\n", to)
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
		err = errs.New(errs.ValidationError, "you are logged in nowhere")
	}
	if err != nil {
		return err
	}
	revoked := "revoked"
	if fault, err := form(ctx, at+"/oauth/revoke", url.Values{"token": {h.Keys[at].Key}}, nil); err != nil || fault != "" {
		revoked = "forgotten here; the server did not answer, so an admin should revoke it"
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
	_, err = fmt.Fprintf(out, "You are logged out of %s; its key is %s.\n", at, revoked)
	return err
}
