package connection

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/banks"
)

// A consequence is the meaning of a provider's error codes, and the status of a connection whose
// sync fails with them.
type consequence struct {
	status  int // of the response
	codes   string
	class   bank.Class
	becomes string
}

// consequences lists the codes of both providers' documentation. A code of class Later leaves the
// connection as it is, until the third failure in a row. Teller's 403 does not count as a
// revocation, although it may be one: a wrong certificate has the same effect, and erasing the
// credentials by mistake would cost an enrollment.
var consequences = map[string][]consequence{
	"plaid": {
		{
			400, "ITEM_LOGIN_REQUIRED INVALID_CREDENTIALS INVALID_MFA INSUFFICIENT_CREDENTIALS", bank.Reauth,
			"pending_reauth",
		},
		{400, "ACCESS_NOT_GRANTED NO_ACCOUNTS ADDITIONAL_CONSENT_REQUIRED", bank.Reauth, "pending_reauth"},
		{400, "ITEM_LOCKED USER_SETUP_REQUIRED PASSWORD_RESET_REQUIRED", bank.Reauth, "pending_reauth"},
		{400, "USER_PERMISSION_REVOKED ITEM_NOT_FOUND ITEM_CONCURRENTLY_DELETED", bank.Permanent, "disconnected"},
		{400, "INVALID_ACCESS_TOKEN INVALID_UPDATED_USERNAME", bank.Permanent, "error"},
		{
			400, "ITEM_NOT_SUPPORTED MFA_NOT_SUPPORTED INSTITUTION_NO_LONGER_SUPPORTED UNSUPPORTED_RESPONSE",
			bank.Permanent, "error",
		},
		{400, "INSTITUTION_DOWN INSTITUTION_NOT_RESPONDING INSTITUTION_NOT_AVAILABLE", bank.Later, "active"},
		{400, "PRODUCT_NOT_READY", bank.Later, "active"},
		{429, "TRANSACTIONS_SYNC_LIMIT TRANSACTIONS_LIMIT ACCOUNTS_LIMIT BALANCE_LIMIT ACCOUNTS_BALANCE_GET_LIMIT " +
			"ITEM_GET_LIMIT", bank.Later, "active"},
		{
			429, "TRANSACTIONS_REFRESH_LIMIT INSTITUTIONS_GET_BY_ID_LIMIT INSTITUTION_RATE_LIMIT RATE_LIMIT", bank.Later,
			"active",
		},
		{429, "CREDITS_EXHAUSTED", bank.Ours, "error"},
		{500, "INTERNAL_SERVER_ERROR", bank.Later, "active"},
		{503, "PLANNED_MAINTENANCE", bank.Later, "active"},
		{
			400, "INVALID_API_KEYS UNAUTHORIZED_ENVIRONMENT INVALID_PRODUCT PRODUCT_NOT_ENABLED PRODUCTS_NOT_SUPPORTED",
			bank.Ours, "error",
		},
		{
			400, "INVALID_FIELD MISSING_FIELDS UNAUTHORIZED_INSTITUTION INSTITUTION_REGISTRATION_REQUIRED", bank.Ours,
			"error",
		},
		{400, "INVALID_PUBLIC_TOKEN INVALID_LINK_TOKEN INVALID_WEBHOOK_VERIFICATION_KEY_ID", bank.Permanent, "error"}, // never a response to a sync
		{400, "AN_ITEM_ERROR_OF_NEXT_YEAR", bank.Later, "active"},
	},
	"teller": {
		{400, "bad_request", bank.Ours, "error"},
		{401, "unauthorized", bank.Ours, "error"},
		{403, "forbidden", bank.Permanent, "error"},
		{404, "not_found account_number_verification_expired", bank.Permanent, "error"},
		{404, "account_number_verification_pending", bank.Later, "active"},
		{404, "enrollment.disconnected enrollment.disconnected.account_locked " +
			"enrollment.disconnected.credentials_invalid", bank.Reauth, "pending_reauth"},
		{
			404, "enrollment.disconnected.enrollment_inactive enrollment.disconnected.user_action.captcha_required",
			bank.Reauth, "pending_reauth",
		},
		{404, "enrollment.disconnected.user_action.contact_information_required " +
			"enrollment.disconnected.user_action.insufficient_permissions", bank.Reauth, "pending_reauth"},
		{
			404, "enrollment.disconnected.user_action.mfa_required enrollment.disconnected.user_action.web_login_required",
			bank.Reauth, "pending_reauth",
		},
		{404, "enrollment.disconnected.of_next_year", bank.Reauth, "pending_reauth"},
		{410, "account.closed account.closed.charged_off", bank.Permanent, "error"}, // of the list of accounts
		{422, "unprocessable_entity", bank.Ours, "error"},
		{429, "too_many_requests", bank.Later, "active"},
		{500, "internal_server_error", bank.Later, "active"},
		{502, "bad_gateway", bank.Later, "active"},
		{503, "service_unavailable", bank.Later, "active"},
	},
}

// Every error code of both providers, from the bank's response to the household's notification.
func TestEveryCodeOfEveryProvider(t *testing.T) {
	t.Parallel()
	for provider, rows := range consequences {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, provider, 20)
			sealed, err := pg.Value[[]byte](t.Context(), o.db, `select credentials from connection`)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, row := range rows {
				for code := range strings.FieldsSeq(row.codes) {
					n++
					if err := o.follows(t, row, code, sealed); err != nil {
						t.Errorf("%d %s: %v", row.status, code, err)
					}
				}
			}
			t.Logf("%d codes", n)
		})
	}
}

// follows lets syncs fail with that code and checks the consequences.
func (o *office) follows(t *testing.T, row consequence, code string, sealed []byte) error {
	t.Helper()
	if _, err := pg.Exec(t.Context(), o.db, `update connection set status = 'active', status_reason = null,
		status_message = null, consecutive_failures = 0, next_sync_at = now(), credentials = $1`, sealed); err != nil {
		return err
	}
	path := map[string]string{"plaid": "/accounts/get", "teller": "/accounts"}[o.provider]
	fail := func() health {
		o.sim.Script(banks.Fault{Path: path, Status: row.status, Code: code})
		if j := o.sync1(t); j.State != job.Failed || j.Error == nil || j.Error.Code != "PROVIDER_ERROR" {
			t.Errorf("%s: the job %s, %+v", code, j.State, j.Error)
		}
		return o.health(t)
	}
	client, err := o.Configured(t.Context(), o.provider)
	if err != nil {
		return err
	}
	// the control: without a script the code is different
	_, err = client.Accounts(t.Context(), bank.Credentials(`{"access_token":"x"}`))
	if e, told := errors.AsType[*bank.Error](err); told && e.Code == code && code != "INVALID_ACCESS_TOKEN" &&
		code != "forbidden" {
		return errors.New("the simulator gives this code without being told")
	}
	h, log := fail(), o.lastLog(t)
	silent := row.becomes == "active"
	switch {
	case h.Status != row.becomes:
		return fmt.Errorf("the connection is %s, want %s", h.Status, row.becomes)
	case h.Sealed == (row.becomes == "disconnected"):
		return fmt.Errorf("credentials are kept: %t", h.Sealed)
	case h.Due == nil && (row.becomes == "active" || row.becomes == "error"),
		h.Due != nil && (*h.Due || row.becomes == "pending_reauth" || row.becomes == "disconnected"):
		return errors.New("the next sync is wrong")
	case silent != (h.Reason == nil) || silent != (h.Message == nil) || !silent &&
		(*h.Reason != code || *h.Message == ""):
		return fmt.Errorf("it says %v, %v", h.Reason, h.Message)
	case log.Status != "error" || log.ErrorCode == nil || *log.ErrorCode != code || log.ErrorMessage == nil ||
		*log.ErrorMessage == "":
		return fmt.Errorf("the log is %+v", log)
	case (row.class == bank.Later) != silent:
		return fmt.Errorf("class %s does not lead to %s", row.class, row.becomes)
	}
	if row.class != bank.Later {
		return nil
	}
	fail()
	if h = fail(); h.Status != "error" || h.Reason == nil || *h.Reason != code || h.Due == nil {
		return fmt.Errorf("after the third: %+v", h)
	}
	return nil
}

// An account that its bank has closed does not affect the others: they are still read, and its
// stored data stays.
func TestClosedAccountEndsNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "teller", 50)
	rows := o.stored(t)
	o.sim.Script(banks.Fault{Path: "/accounts/", Status: http.StatusGone, Code: "account.closed.charged_off"})
	if j := o.sync1(t); j.State != job.Succeeded {
		t.Errorf("%+v", j.Error)
	}
	if h := o.health(t); h.Status != "active" || len(o.stored(t)) != len(rows) {
		t.Errorf("%+v, %d of %d rows", h, len(o.stored(t)), len(rows))
	}
}
