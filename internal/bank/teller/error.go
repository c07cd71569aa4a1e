package teller

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"coffer/internal/bank"
)

const (
	disconnected = "enrollment.disconnected"
	closed       = "account.closed"
)

// A verdict is how coffer handles an error.
type verdict struct {
	class  bank.Class
	advice string
	wait   time.Duration
}

var (
	signIn = verdict{
		class:  bank.Reauth,
		advice: "the bank needs a new sign-in: reconnect the bank",
	}
	atBank = verdict{
		class:  bank.Reauth,
		advice: "sign in on your bank's website, follow its prompts, then reconnect the bank",
	}
	setup = verdict{
		class: bank.Ours,
		advice: "Teller rejects coffer's configuration: check the client certificate, the application and the " +
			"environment",
	}
	refusing = verdict{
		class:  bank.Permanent,
		advice: "Teller no longer accepts this connection; connect the bank again",
	}
	shut    = verdict{class: bank.Permanent, advice: "the bank has closed this account; its stored data is kept"}
	missing = verdict{
		class:  bank.Permanent,
		advice: "Teller does not know this account; connect the bank again if it is still open",
	}
	mistake = verdict{
		class:  bank.Ours,
		advice: "Teller rejected coffer's request; this is a bug in coffer, please report it",
	}
	limited = verdict{
		class:  bank.Later,
		advice: "Teller's rate limit is reached; coffer will retry", wait: time.Minute,
	}
	bankDown = verdict{
		class: bank.Later, advice: "the bank does not respond to Teller; coffer will retry",
		wait: 30 * time.Minute,
	}
	passing = verdict{
		class: bank.Later, advice: "Teller is having problems; coffer will retry",
		wait: 30 * time.Second,
	}
)

// elsewhere lists disconnections that the member must first resolve on the bank's own pages.
var elsewhere = map[string]bool{
	disconnected + ".account_locked":                           true,
	disconnected + ".user_action.contact_information_required": true,
	disconnected + ".user_action.web_login_required":           true,
}

// statuses decides if the code does not. Not every 404 means that the connection has ended.
var statuses = map[int]verdict{
	http.StatusBadRequest:          setup,
	http.StatusUnauthorized:        setup,
	http.StatusForbidden:           refusing,
	http.StatusNotFound:            missing,
	http.StatusGone:                shut,
	http.StatusUnprocessableEntity: mistake,
	http.StatusTooManyRequests:     limited,
	http.StatusBadGateway:          bankDown,
}

// judge decides by the code, then by the status.
func judge(code string, status int) *bank.Error {
	v, known := statuses[status]
	switch {
	case elsewhere[code]:
		v = atBank
	case code == disconnected || strings.HasPrefix(code, disconnected+"."):
		v = signIn
	case strings.HasPrefix(code, closed):
		v = shut
	case code == "account_number_verification_pending":
		v = passing
	case known:
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		v = mistake
	default:
		v = passing
	}
	return &bank.Error{
		Provider: name, Class: v.class, Code: bank.Code(code), Advice: v.advice, RetryAfter: v.wait,
		Status: status,
	}
}

// refused returns the error for a response that is not a success.
func (t *Teller) refused(a bank.Answer) error {
	var body struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(a.Body, &body) != nil {
		body.Error.Code = ""
	}
	e := judge(body.Error.Code, a.Status)
	if wait := a.RetryAfter(t.now()); e.Class == bank.Later && wait > 0 {
		e.RetryAfter = wait
	}
	return e
}
