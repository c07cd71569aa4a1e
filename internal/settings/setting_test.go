package settings

import (
	"strings"
	"testing"

	"coffer/internal/llm"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

func newSettings(t *testing.T) *Settings {
	t.Helper()
	ring, err := seal.NewRing("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	return &Settings{db: pgtest.New(t), ring: ring}
}

func given[T any](v T) op.Null[T] { return op.Null[T]{Set: true, Value: &v} }

func TestPatchChangesOnlyWhatIsGiven(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	before, err := s.Get(t.Context(), s.db, op.None{})
	if err != nil {
		t.Fatal(err)
	}
	patch := func(in PatchHousehold) (out Household, err error) {
		err = s.db.InTx(t.Context(), func(tx pg.Tx) error {
			out, err = s.Patch(t.Context(), tx, in)
			return err
		})
		return out, err
	}
	got, err := patch(PatchHousehold{Name: new("The Smiths"), RetentionDays: given(90)})
	if err != nil || got.Name != "The Smiths" || *got.RetentionDays != 90 || got.TimeZone != before.TimeZone ||
		got.SyncIntervalSeconds != before.SyncIntervalSeconds {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = patch(PatchHousehold{RetentionDays: op.Null[int]{Set: true}}); err != nil ||
		got.RetentionDays != nil || got.Name != "The Smiths" {
		t.Errorf("null means forever: %+v, %v", got, err)
	}
	if _, err := patch(PatchHousehold{TimeZone: new("Europe/Nowhere")}); !errs.Is(err, errs.ValidationError) {
		t.Errorf("a time zone that does not exist: %v", err)
	}
}

// A new household gets the currency of the person who sets it up, even if it already has a model. A
// currency that somebody chose is not replaced.
func TestBegin(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	in := func(f func(tx pg.Tx) error) {
		t.Helper()
		if err := s.db.InTx(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	begins := func(currency money.Currency) money.Currency {
		t.Helper()
		in(func(tx pg.Tx) error { return s.Begin(t.Context(), tx, currency) })
		now, err := s.Get(t.Context(), s.db, op.None{})
		if err != nil {
			t.Fatal(err)
		}
		return now.DefaultCurrency
	}
	in(func(tx pg.Tx) error {
		_, err := s.PatchAgents(t.Context(), tx, PatchAgents{WritesPerDay: given(50)})
		return err
	})
	if got := begins("USD"); got != "USD" {
		t.Errorf("it begins with %s", got)
	}
	in(func(tx pg.Tx) error {
		_, err := s.Patch(t.Context(), tx, PatchHousehold{DefaultCurrency: new(money.Currency("CHF"))})
		return err
	})
	if got := begins("GBP"); got != "CHF" {
		t.Errorf("the chosen currency became %s", got)
	}
}

// setModel configures a model provider in a separate transaction.
func (s *Settings) setModel(t *testing.T, in SetModel) (out Models, err error) {
	t.Helper()
	err = s.db.InTx(t.Context(), func(tx pg.Tx) error {
		out, err = s.SetModel(t.Context(), tx, in)
		return err
	})
	return out, err
}

func TestModelKeyIsSealedAndMasked(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	const key = "sk-ant-0123456789abcdef"
	out, err := s.setModel(t, SetModel{Provider: "anthropic", Key: given(key)})
	if err != nil || !out.Anthropic.Key.Set || out.OpenAICompatible.Key.Set {
		t.Fatalf("%+v, %v", out, err)
	}
	if m := out.Anthropic.Key.Masked; m == "" || strings.Contains(m, "0123456789") {
		t.Errorf("the key is shown as %q", m)
	}
	stored, err := pg.Value[[]byte](t.Context(), s.db, `select key from model_setting`)
	if err != nil || strings.Contains(string(stored), key) {
		t.Errorf("the key is stored as it is, %v", err)
	}
	s.ring = nil
	if _, err := s.setModel(t, SetModel{Provider: "anthropic", Key: given(key)}); err == nil {
		t.Error("a key was stored without an encryption key")
	}
}

// A stored key must not be sent to a new address that somebody has set.
func TestNewAddressRequiresTheKeyAgain(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	first := SetModel{Provider: "openai_compatible", BaseURL: given("https://one.example"), Key: given("secret-key")}
	if _, err := s.setModel(t, first); err != nil {
		t.Fatal(err)
	}
	moved := SetModel{Provider: "openai_compatible", BaseURL: given("https://two.example")}
	if _, err := s.setModel(t, moved); !errs.Is(err, errs.ValidationError) {
		t.Errorf("another address with the stored key: %v", err)
	}
	moved.Key = given("another-key")
	if out, err := s.setModel(t, moved); err != nil || *out.OpenAICompatible.BaseURL != "https://two.example" {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestModelPrices(t *testing.T) {
	t.Parallel()
	s := newSettings(t)
	prices := []Price{
		{Model: "a", Input: "3", Output: "15", CacheRead: "0.3", CacheWrite: "3.75"},
		{Model: "b", Input: "0.075", Output: "0.3"},
	}
	if out, err := s.setModel(t, SetModel{Provider: "anthropic", Prices: &prices}); err != nil ||
		len(out.Anthropic.Prices) != 2 || out.Anthropic.Prices[1] != prices[1] {
		t.Errorf("%+v, %v", out, err)
	}
	twice := []Price{{Model: "a", Input: "3", Output: "15"}, {Model: "a", Input: "4", Output: "15"}}
	if _, err := s.setModel(t, SetModel{Provider: "anthropic", Prices: &twice}); !errs.Is(err, errs.ValidationError) {
		t.Errorf("a model with two prices: %v", err)
	}
	for name, want := range map[string]llm.Price{
		"a": {Input: 3_000_000, CacheRead: 300_000, CacheWrite: 3_750_000, Output: 15_000_000},
		"b": {Input: 75_000, CacheRead: 75_000, CacheWrite: 75_000, Output: 300_000}, // the cache costs as input
	} {
		if got, ok, err := s.Price(t.Context(), s.db, "anthropic", name); !ok || err != nil || got != want {
			t.Errorf("%s: %+v, %v, %v", name, got, ok, err)
		}
	}
	if got, ok, err := s.Price(t.Context(), s.db, "openai_compatible", "a"); ok || err != nil {
		t.Errorf("another provider's model: %+v, %v", got, err)
	}
}

func TestIsHTTP(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://api.example":      true,
		"http://127.0.0.1:11434/v": true,
		"api.example":              false,
		"ftp://api.example":        false,
		"https://":                 false,
		"https://user@api.example": false,
		"https://api.example?a=b":  false,
		"https://api.example#part": false,
	} {
		if isHTTP(address) != want {
			t.Errorf("%s: want %v", address, want)
		}
	}
}
