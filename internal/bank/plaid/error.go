package plaid

import (
	"encoding/json"
	"net/http"
	"regexp"
	"time"

	"coffer/internal/bank"
)

const mutation = "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION"

// A verdict is how coffer handles an error code.
type verdict struct {
	class   bank.Class
	advice  string
	wait    time.Duration
	revoked bool
}

var (
	signIn = verdict{
		class:  bank.Reauth,
		advice: "the bank needs a new sign-in: reconnect the bank",
	}
	choose = verdict{
		class: bank.Reauth,
		advice: "the bank shares no accounts with this connection: reconnect the bank and choose the " +
			"accounts again",
	}
	atBank = verdict{
		class:  bank.Reauth,
		advice: "sign in on your bank's website, follow its prompts, then reconnect the bank",
	}
	ended = verdict{
		class:  bank.Permanent,
		advice: "access was ended at the bank; connect the bank again to continue", revoked: true,
	}
	gone = verdict{
		class:  bank.Permanent,
		advice: "Plaid no longer knows this connection; connect the bank again",
	}
	unsupported = verdict{
		class:  bank.Permanent,
		advice: "Plaid doesn't support this bank or account; try another provider, or import a CSV file",
	}
	bankDown = verdict{
		class:  bank.Later,
		advice: "the bank does not respond to Plaid; coffer will retry in a few hours", wait: time.Hour,
	}
	limited = verdict{
		class:  bank.Later,
		advice: "Plaid's rate limit is reached; coffer will retry", wait: time.Minute,
	}
	exhausted = verdict{class: bank.Ours, advice: "the Plaid account has no credits left; add some in its " +
		"dashboard"}
	passing = verdict{
		class: bank.Later, advice: "Plaid is having problems; coffer will retry",
		wait: 30 * time.Second,
	}
	wrong = verdict{
		class: bank.Ours,
		advice: "Plaid rejects coffer's configuration: check the keys, the environment and the products in Plaid's " +
			"dashboard",
	}
	again = verdict{class: bank.Permanent, advice: "this link session was used or has expired; start a new one"}
)

// verdicts lists the codes that are more specific than their type.
var verdicts = map[string]verdict{
	"ITEM_LOGIN_REQUIRED":         signIn,
	"INVALID_CREDENTIALS":         signIn,
	"INVALID_MFA":                 signIn,
	"INSUFFICIENT_CREDENTIALS":    signIn,
	"ADDITIONAL_CONSENT_REQUIRED": signIn,

	"ACCESS_NOT_GRANTED": choose,
	"NO_ACCOUNTS":        choose,

	"ITEM_LOCKED":             atBank,
	"USER_SETUP_REQUIRED":     atBank,
	"PASSWORD_RESET_REQUIRED": atBank,

	"USER_PERMISSION_REVOKED":   ended,
	"ITEM_NOT_FOUND":            ended,
	"ITEM_CONCURRENTLY_DELETED": ended,
	// The connection is not ended, because a token of another environment causes the same error.
	"INVALID_ACCESS_TOKEN":     gone,
	"INVALID_UPDATED_USERNAME": gone,

	"ITEM_NOT_SUPPORTED":              unsupported,
	"MFA_NOT_SUPPORTED":               unsupported,
	"INSTITUTION_NO_LONGER_SUPPORTED": unsupported,
	"UNSUPPORTED_RESPONSE":            unsupported,

	"INSTITUTION_DOWN":           bankDown,
	"INSTITUTION_NOT_RESPONDING": bankDown,
	"INSTITUTION_NOT_AVAILABLE":  bankDown,

	"PRODUCT_NOT_READY": passing,
	mutation:            passing,

	"CREDITS_EXHAUSTED": exhausted,

	"INVALID_API_KEYS":                  wrong,
	"UNAUTHORIZED_ENVIRONMENT":          wrong,
	"INVALID_PRODUCT":                   wrong,
	"PRODUCT_NOT_ENABLED":               wrong,
	"PRODUCTS_NOT_SUPPORTED":            wrong,
	"INVALID_FIELD":                     wrong,
	"MISSING_FIELDS":                    wrong,
	"UNAUTHORIZED_INSTITUTION":          wrong,
	"INSTITUTION_REGISTRATION_REQUIRED": wrong,

	"INVALID_PUBLIC_TOKEN": again,
	"INVALID_LINK_TOKEN":   again,
	noSuchKey:              again,
}

// types decides for codes that are not among the verdicts, because Plaid adds new codes.
var types = map[string]verdict{
	"RATE_LIMIT_EXCEEDED": limited,
	"API_ERROR":           passing,
	"INSTITUTION_ERROR":   bankDown,
	"ITEM_ERROR":          passing,
	"TRANSACTIONS_ERROR":  passing,
	"OAUTH_ERROR":         signIn,
	"INVALID_REQUEST":     wrong,
	"INVALID_INPUT":       wrong,
}

// A failure is the part of Plaid's error object that coffer reads. It leaves out the messages.
type failure struct {
	Type      string `json:"error_type"`
	Code      string `json:"error_code"`
	RequestID string `json:"request_id"`
}

// judge decides by the code, then by the type, then by the status.
func judge(f failure, status int) *bank.Error {
	v, known := verdicts[f.Code]
	if !known {
		v, known = types[f.Type]
	}
	if !known {
		switch {
		case status == http.StatusTooManyRequests:
			v = limited
		case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
			v = wrong
		default:
			v = passing
		}
	}
	e := &bank.Error{
		Provider: name, Class: v.class, Code: bank.Code(f.Code), Advice: v.advice, RetryAfter: v.wait,
		Revoked: v.revoked, Status: status,
	}
	if isRequest.MatchString(f.RequestID) {
		e.RequestID = f.RequestID
	}
	return e
}

// isRequest matches Plaid's request ids. A longer text, or one with dashes as in tokens, may be a
// repeated token.
var isRequest = regexp.MustCompile(`^[A-Za-z0-9]{1,20}$`)

// refused returns the error for a response that is not 200. If the body is not Plaid's, such as a
// proxy's page, the status decides.
func (p *Plaid) refused(a bank.Answer) error {
	var f failure
	if json.Unmarshal(a.Body, &f) != nil {
		f = failure{}
	}
	e := judge(f, a.Status)
	if wait := a.RetryAfter(p.now()); e.Class == bank.Later && wait > 0 {
		e.RetryAfter = wait
	}
	return e
}
