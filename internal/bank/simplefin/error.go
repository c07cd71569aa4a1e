package simplefin

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"coffer/internal/bank"
)

// refused returns the error for a response that is not a success.
func (s *SimpleFIN) refused(a bank.Answer) error {
	e := &bank.Error{Provider: name, Class: bank.Later, Status: a.Status, RetryAfter: a.RetryAfter(s.now())}
	switch {
	case a.Status == http.StatusPaymentRequired:
		e.Class, e.Code, e.Advice = bank.Permanent, "PAYMENT_REQUIRED",
			"the SimpleFIN subscription has ended; renew it, and syncs continue by themselves"
	case a.Status == http.StatusForbidden || a.Status == http.StatusUnauthorized:
		e.Class, e.Code, e.Advice = bank.Reauth, "ACCESS_REVOKED",
			"the SimpleFIN server no longer accepts coffer's access; reconnect with a new setup token"
	case a.Status == http.StatusTooManyRequests:
		e.Code, e.Advice = "TOO_MANY_REQUESTS", "SimpleFIN's limit of requests is reached; coffer will retry"
		e.RetryAfter = cmp.Or(e.RetryAfter, 6*time.Hour)
	case a.Status == http.StatusNotFound:
		e.Class, e.Code, e.Advice = bank.Permanent, "NOT_FOUND",
			"the SimpleFIN server does not know coffer's address; reconnect with a new setup token"
	case a.Status >= 400 && a.Status < 500:
		e.Class, e.Code, e.Advice = bank.Ours, "REFUSED",
			"the SimpleFIN server rejected coffer's request; this is a bug in coffer, please report it"
	default:
		e.Code, e.Advice = "UNAVAILABLE", "the SimpleFIN server is having problems; coffer will retry"
		e.RetryAfter = cmp.Or(e.RetryAfter, 5*time.Minute)
	}
	return e
}

// A fault is one entry of the protocol's error list.
type fault struct {
	Code    bank.OptionalString `json:"code"`
	Msg     bank.OptionalString `json:"msg"`
	Message bank.OptionalString `json:"message"` // the name in the protocol's examples
	ConnID  bank.OptionalString `json:"conn_id"`
	Account bank.OptionalString `json:"account_id"`
}

func (f fault) text() string {
	if f.Msg != "" {
		return string(f.Msg)
	}
	return string(f.Message)
}

// refused returns an error if an answer reports a fault of the whole access.
func (a answer) refused() error {
	for _, f := range a.ErrList {
		if f.Code == "gen.auth" || strings.HasPrefix(string(f.Code), "gen.auth.") {
			return &bank.Error{
				Provider: name, Class: bank.Reauth, Code: "gen.auth",
				Advice: "sign in at your SimpleFIN server, then reconnect",
			}
		}
	}
	return nil
}

const (
	adviceBank = "this bank needs a sign-in: sign in to it at your SimpleFIN server; your other banks are not affected"
	adviceDown = "the SimpleFIN server cannot read this bank at the moment; your other banks are not affected"
	adviceOne  = "the SimpleFIN server could not read this account completely; the next sync tries again"
	adviceSome = "the SimpleFIN server reports a problem; sign in there to see which bank is affected"
	adviceWarn = "the SimpleFIN server warns about coffer's requests; if this continues, please report it"
)

// troubles returns the faults of single banks and accounts. shade lists the accounts that may lack
// rows. An unknown code is treated like its first part.
func (a answer) troubles() (out []bank.Trouble, shade shade) {
	for _, f := range a.ErrList {
		t := bank.Trouble{Class: bank.Later, Code: bank.Code(string(f.Code)), BankID: string(f.ConnID)}
		kind, sub, _ := strings.Cut(string(f.Code), ".")
		if f.Account != "" {
			kind = "act"
		}
		switch {
		case kind == "act":
			t.AccountID, t.Advice = a.key(string(f.ConnID), string(f.Account)), adviceOne
			if at, ok := a.find(t.AccountID); ok {
				t.BankID = at.account.BankID
			}
			if t.AccountID == "" && t.BankID == "" {
				shade.all = true
			}
		case kind == "con" && (sub == "auth" || strings.HasPrefix(sub, "auth.")):
			t.Class, t.Advice = bank.Reauth, adviceBank
		case kind == "con" || f.ConnID != "":
			t.Advice = adviceDown
		case sub == "api":
			t.Advice = adviceWarn
			lower := strings.ToLower(f.text())
			shade.all = shade.all || strings.Contains(lower, "capped") || strings.Contains(lower, "exceeds")
		default:
			t.Advice, shade.all = adviceSome, true
		}
		if t.AccountID == "" && t.BankID == "" && kind == "con" {
			shade.all = true
		}
		t.BankName = a.bank(t.BankID)
		shade.add(t)
		out = append(out, t)
	}
	more, dim := a.older()
	shade.all = shade.all || dim.all
	shade.banks, shade.accounts = append(shade.banks, dim.banks...), append(shade.accounts, dim.accounts...)
	return append(out, more...), shade
}

// older reads the errors of the protocol's first version, which are sentences for people. A
// sentence that names a bank is about that bank. Any other sentence may be about all banks.
func (a answer) older() (out []bank.Trouble, shade shade) {
	for _, sentence := range a.Errors {
		found := false
		for id, name := range a.banks {
			if plain := strings.ToLower(name.Plain()); plain == "" ||
				!strings.Contains(strings.ToLower(string(sentence)), plain) {
				continue
			}
			t := bank.Trouble{BankID: id, BankName: name, Class: bank.Later, Code: "con.", Advice: adviceDown}
			word := strings.ToLower(string(sentence))
			if strings.Contains(word, "auth") || strings.Contains(word, "attention") {
				t.Class, t.Code, t.Advice = bank.Reauth, "con.auth", adviceBank
			}
			shade.add(t)
			out, found = append(out, t), true
		}
		if !found {
			out = append(out, bank.Trouble{Class: bank.Later, Code: "gen.", Advice: adviceSome})
			shade.all = true
		}
	}
	return out, shade
}

// A shade lists the accounts that an answer may have read incompletely.
type shade struct {
	all      bool
	banks    []string
	accounts []string
}

func (s *shade) add(t bank.Trouble) {
	switch {
	case t.AccountID != "":
		s.accounts = append(s.accounts, t.AccountID)
	case t.BankID != "":
		s.banks = append(s.banks, t.BankID)
	}
}
