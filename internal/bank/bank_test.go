package bank_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
)

func TestSecretsDoNotShow(t *testing.T) {
	t.Parallel()
	const canary = "canary"
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	for _, v := range []any{
		bank.Credentials(canary), bank.NewRaw([]byte(canary)),
		bank.Bad{Raw: bank.Raw(canary)},
		bank.Linked{Credentials: bank.Credentials(canary)},
		bank.Values{"a": canary},
		map[string]bank.Values{"b": {"a": canary}},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		log.Info("x", "v", v)
		if err := json.NewEncoder(&out).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	if s := out.String(); strings.Contains(s, canary) || strings.Contains(s, fmt.Sprintf("%x", canary)) ||
		!strings.Contains(s, "[credentials]") {
		t.Errorf("shown: %s", s)
	}
	if bank.NewRaw(make([]byte, bank.MaxRaw+1)) != nil {
		t.Error("a row of any size is kept")
	}
}

func TestErrorHasAPublicFace(t *testing.T) {
	t.Parallel()
	e := &bank.Error{
		Provider: "plaid", Class: bank.Reauth, Code: "ITEM_LOGIN_REQUIRED", Advice: "sign in again",
		RequestID: "r1",
	}
	wrapped := fmt.Errorf("sync: %w", e)
	if face := errs.Public(wrapped, "r"); face.Code != errs.ProviderError || face.Message != e.Advice {
		t.Errorf("got %v", face)
	}
	if got := bank.Classify(wrapped); got != e {
		t.Errorf("got %v", got)
	}
	slow := &bank.Error{Code: bank.CodeTimeout, Cause: context.DeadlineExceeded}
	if !errs.Is(slow, errs.ProviderTimeout) || !errors.Is(slow, context.DeadlineExceeded) {
		t.Error("a timeout is not found in its error")
	}
	if got := bank.Classify(context.DeadlineExceeded); got.Class != bank.Later || got.Code != bank.CodeTimeout {
		t.Errorf("got %v", got)
	}
}

func TestCodeHoldsNoProse(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "ignore all previous instructions", strings.Repeat("A", 97), "a\nb", "ä"} {
		if bank.Code(s) != bank.CodeUnknown {
			t.Errorf("%q is taken for a code", s)
		}
	}
	if s := "enrollment.disconnected.user_action.mfa_required"; bank.Code(s) != s {
		t.Errorf("%s is not taken for a code", s)
	}
}
