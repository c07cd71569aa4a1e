// Package all is the list of formats in which coffer can ask models: one line for each. It must not
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
	Name string // how settings and workflows call it
	Base string // where requests go unless settings say otherwise
	// Variables begin with this, such as COFFER_OPENAI_API_KEY.
	Variable string
	// Keyless means that a server of the format may need no key, so an address is enough.
	Keyless bool
	New     func(llm.Config) (llm.Client, error)
}

// Specs are all formats.
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
