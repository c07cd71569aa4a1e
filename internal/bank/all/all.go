// Package all lists the providers that coffer can read. It must not know how a provider works, nor
// any of its fields; each provider's spec says what the rest of coffer needs.
package all

import (
	"fmt"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/bank/enablebanking"
	"coffer/internal/bank/plaid"
	"coffer/internal/bank/simplefin"
	"coffer/internal/bank/teller"
)

// Specs lists all providers, in the order in which the interface shows them. The first one that
// works over the network is the default of commands.
var Specs = []bank.Spec{
	plaid.Spec,
	teller.Spec,
	simplefin.Spec,
	enablebanking.Spec,
	bank.Files,
}

// A Name is the name of a provider. Files count as a provider.
type Name string

// Enum lists the values of the type.
func (Name) Enum() []string { return names(func(bank.Spec) bool { return true }) }

// A Keeper is the source of an account's transactions: a provider, or the household itself.
type Keeper string

// Enum lists the values of the type.
func (Keeper) Enum() []string { return append(Name("").Enum(), bank.Manual) }

// A Remote is the name of a provider that coffer calls over the network.
type Remote string

// Enum lists the values of the type.
func (Remote) Enum() []string { return names(bank.Spec.Remote) }

// Default is the provider that commands use if none is named.
func Default() string { return Remote("").Enum()[0] }

func names(which func(bank.Spec) bool) []string {
	var out []string
	for _, s := range Specs {
		if which(s) {
			out = append(out, s.Name)
		}
	}
	return out
}

// Find returns the spec of the provider with that name.
func Find(name string) (bank.Spec, bool) {
	i := slices.IndexFunc(Specs, func(s bank.Spec) bool { return s.Name == name })
	if i < 0 {
		return bank.Spec{}, false
	}
	return Specs[i], true
}

// Configured creates the configured providers from their values, by name. It leaves out providers
// that are not configured.
func Configured(values map[string]bank.Values) ([]bank.Provider, error) {
	var out []bank.Provider
	for _, s := range Specs {
		if !s.Configured(values[s.Name]) {
			continue
		}
		p, err := s.New(values[s.Name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		out = append(out, p)
	}
	return out, nil
}
