package enablebanking

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"coffer/internal/bank"
)

const (
	adviceSignIn = "your consent at the bank has ended; reconnect the bank"
	adviceBank   = "the bank does not answer at the moment; coffer will retry"
	adviceApp    = "Enable Banking does not accept the application; check the application ID and the private key " +
		"under Settings › Bank providers, and that the application is active in the control panel"
	adviceOne = "the bank does not let coffer read this account; the others are not affected. If it stays like " +
		"this, reconnect the bank"
	adviceCut = "the bank did not list all transactions of this account; what it listed is stored, and the next " +
		"sync tries again"
)

// The codes of Enable Banking, grouped by their consequence. For other codes the status decides.
var (
	ended = []string{
		"EXPIRED_SESSION", "REVOKED_SESSION", "WRONG_SESSION_STATUS", "ASPSP_PSU_ACTION_REQUIRED",
		"SESSION_DOES_NOT_EXIST", "CONSENT_EXPIRED",
	}
	busy   = []string{"ASPSP_ERROR", "ASPSP_TIMEOUT", "ASPSP_UNAVAILABLE"}
	lacks  = []string{"ASPSP_ACCOUNT_NOT_ACCESSIBLE", "ACCOUNT_DOES_NOT_EXIST"}
	period = "WRONG_TRANSACTIONS_PERIOD"
	closed = "CLOSED_SESSION"
)

// refused returns the error for a response that is not a success.
func (e *EnableBanking) refused(a bank.Answer) error {
	var body struct {
		Code  json.RawMessage     `json:"code"` // a number in most responses
		Error bank.OptionalString `json:"error"`
	}
	_ = json.Unmarshal(a.Body, &body) // a proxy's page contains no code
	code := bank.Code(string(body.Error))
	out := &bank.Error{
		Provider: name, Class: bank.Later, Code: code, Status: a.Status, RetryAfter: a.RetryAfter(e.now()),
	}
	switch {
	case code == closed:
		out.Class, out.Advice = bank.Permanent, "access to the bank was given up; reconnect the bank"
	case slices.Contains(ended, code):
		out.Class, out.Advice = bank.Reauth, adviceSignIn
	case a.Status == http.StatusTooManyRequests || code == "ASPSP_RATE_LIMIT_EXCEEDED":
		out.Advice = "the bank's limit of requests is reached; coffer will retry"
		out.RetryAfter = cmp.Or(out.RetryAfter, 6*time.Hour)
	case slices.Contains(busy, code):
		out.Advice = adviceBank
	case slices.Contains(lacks, code):
		out.Advice = adviceOne
	case code == "REDIRECT_URI_NOT_ALLOWED":
		out.Class, out.Advice = bank.Ours, "this server's redirect URL is not registered: add it to the application "+
			"in Enable Banking's control panel (coffer's address with /link/return), or set redirect_url to one that is"
	case code == "NO_ACCOUNTS_ADDED":
		out.Class, out.Advice = bank.Ours, "the application has no accounts yet: link your accounts to it in Enable "+
			"Banking's control panel first"
	case code == period:
		out.Class, out.Advice = bank.Later, "the bank does not list transactions of these days"
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden:
		out.Class, out.Advice = bank.Ours, adviceApp
	case a.Status >= 400 && a.Status < 500:
		out.Class, out.Advice = bank.Ours, "Enable Banking rejected coffer's request; this is a bug in coffer, please "+
			"report it"
	default:
		out.Advice = "Enable Banking is having problems; coffer will retry"
		out.RetryAfter = cmp.Or(out.RetryAfter, 5*time.Minute)
	}
	return out
}

// aboutAccount reports whether a failure may be about one account only. It is not if the code means
// that the session has ended.
func aboutAccount(err error) bool {
	f := bank.Classify(err)
	if f.Code == closed || slices.Contains(ended, f.Code) {
		return false
	}
	return slices.Contains(lacks, f.Code) || f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden
}
