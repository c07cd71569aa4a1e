// Package all lists the formats in which coffer can call models, one line for each. It must not
// know how they work.
package all

import (
	"coffer/internal/llm"
	"coffer/internal/llm/anthropic"
	"coffer/internal/llm/openai"
	"coffer/internal/platform/errs"
)

// A Spec describes a format.
type Spec struct {
	Name string // the name in settings and workflows
	Base string // the default address
	// Variable is the prefix of the format's variables, such as COFFER_OPENAI_API_KEY.
	Variable string
	// Keyless means that a server may need no key. Then an address alone is enough.
	Keyless bool
	New     func(llm.Config) (llm.Client, error)
}

// Specs lists all formats.
var Specs = []Spec{
	{Name: anthropic.Name, Base: anthropic.Base, Variable: "ANTHROPIC", New: anthropic.New},
	{Name: openai.Name, Base: openai.Base, Variable: "OPENAI", Keyless: true, New: openai.New},
}

// Find returns the spec of that name.
func Find(name string) (Spec, error) {
	for _, s := range Specs {
		if s.Name == name {
			return s, nil
		}
	}
	return Spec{}, errs.New(errs.ProviderNotConfig, "this version of coffer does not support the model "+
		"provider %s", name)
}
