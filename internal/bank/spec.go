package bank

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// A Spec describes a provider before it is configured. Every provider's package exports one, and
// package all lists them. Settings, environment variables, enumerations, help texts and webhook
// addresses follow from that list.
type Spec struct {
	// Name is the provider's name in the database and the API: lower-case letters and digits.
	Name string
	// Title is its display name.
	Title string
	// Kind is the kind of service.
	Kind Kind
	// Countries lists where its banks are, as ISO 3166 codes; none means everywhere.
	Countries []string
	// Guide is the address of the page where a household gets the values of Fields, or those that
	// the member enters in [Spec.Link].
	Guide string
	// Link describes how banks are connected. Its Way is "" if the provider is not a [Linker], and
	// [ByForm] if it is a [Former].
	Link Link
	// Fields are its configuration. The interface shows only the last characters of a value. If no
	// field is required, the provider needs no configuration: banks can be connected at once.
	Fields []Field
	// Given lists the parts of the input of [Linker.Exchange], for callers that run the widget
	// themselves.
	Given string
	// Script starts the widget of an [Embedder]. It is JavaScript that adds a function named
	// [Widget.Connect] to widgets.
	Script string
	// Type is a nil value of the type that New returns. The capability interfaces that this type
	// implements are the provider's capabilities.
	Type Provider
	// New creates the provider. It is nil if there is no service to call, as for uploaded files.
	New func(Values) (Provider, error)
}

// A Field is one part of a provider's configuration. The variable of the field client_id of the
// provider bank is COFFER_BANK_CLIENT_ID.
type Field struct {
	// Name is the field's name in the API, in snake case.
	Name string
	// Title is the label in forms.
	Title string
	// Doc says what the field is and where to find the value.
	Doc string
	// Required marks fields that cannot be cleared. Unless one of them is set, the provider is not
	// configured.
	Required bool
	// PEM marks certificates and keys. Their environment variables name a file.
	PEM bool
	// Local marks fields that only the server's environment may set. If callers could set such an
	// address through the API, they could redirect the secrets to themselves.
	Local bool
	// MaxLen is the maximum number of characters of a value; 0 means 200, or 20,000 for PEM.
	MaxLen int
	// Values are the only allowed values; the first one is the default. Only [Environment] has
	// them.
	Values []string
	// Example is a value for help texts.
	Example string
}

// A Kind is a sort of provider.
type Kind string

// The kinds of providers.
const (
	Aggregator  Kind = "aggregator"   // a company signs in at banks for the household
	OpenBanking Kind = "open_banking" // the bank's own API, with its consent page
	Token       Kind = "token"        // the household pastes a token
	FileKind    Kind = "files"        // the household uploads files
)

// Enum lists the values of the type.
func (Kind) Enum() []string {
	return []string{string(Aggregator), string(OpenBanking), string(Token), string(FileKind)}
}

// A Way is how a member connects a bank.
type Way string

// The ways to connect a bank.
const (
	ByPage     Way = "page"     // a page with the provider's widget, which a link session opens
	ByForm     Way = "form"     // values that the member enters in coffer
	ByRedirect Way = "redirect" // the bank's own page, which redirects back
)

// Enum lists the values of the type.
func (Way) Enum() []string { return []string{string(ByPage), string(ByForm), string(ByRedirect)} }

// A Link describes how banks are connected through a provider, so that a form can ask for the
// values.
type Link struct {
	Way Way
	// Fields are the values that the member enters.
	Fields []Field
	// Institutions means that the member first chooses the bank from a list of the provider.
	Institutions bool
}

// Field returns the field of that name.
func (l Link) Field(name string) (Field, bool) { return find(l.Fields, name) }

// CSV is the provider name of connections for uploaded files.
const CSV = "csv"

// Manual is the provider name of accounts whose transactions the household enters itself.
const Manual = "manual"

// Files is the entry for statement files in the list of providers. It has no configuration and no
// sync.
var Files = Spec{Name: CSV, Title: "Files", Kind: FileKind}

// Environment is the field that chooses which of a provider's systems coffer calls.
const Environment = "environment"

// Environments are the possible values of the field Environment. A provider allows some of them.
var Environments = []string{"sandbox", "development", "production"}

// Values are a provider's configuration, by the names of its fields. Formatting, logging or
// encoding them writes a placeholder.
type Values map[string]string

const noValues = "[values]"

func (v Values) String() string { return noValues }

// Format writes the placeholder for every verb.
func (v Values) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, noValues) }

// LogValue keeps the values out of logs.
func (v Values) LogValue() slog.Value { return slog.StringValue(noValues) }

// MarshalJSON keeps the values out of responses.
func (v Values) MarshalJSON() ([]byte, error) { return []byte(`"` + noValues + `"`), nil }

// A Guided provider may be configured to call another server, which has its own [Spec.Guide].
type Guided interface {
	// Guide is the address of the page, or "" for the usual one.
	Guide() string
}

// GuideOf returns the address of [Spec.Guide] for a configured provider. P may be nil.
func (s Spec) GuideOf(p Provider) string {
	if g, ok := p.(Guided); ok && g.Guide() != "" {
		return g.Guide()
	}
	return s.Guide
}

// Remote reports whether coffer calls the provider over the network, so that it is configured and
// synced.
func (s Spec) Remote() bool { return s.New != nil }

// Webhooks reports whether the provider sends webhooks.
func (s Spec) Webhooks() bool {
	_, ok := s.Type.(Webhooker)
	return ok
}

// MinInterval is the shortest useful time between two syncs, or 0 if the provider is not synced.
func (s Spec) MinInterval() time.Duration {
	if !s.Remote() {
		return 0
	}
	return s.Type.Traits().MinInterval
}

// Variable is the name of a field's environment variable, without coffer's prefix.
func (s Spec) Variable(f Field) string { return strings.ToUpper(s.Name + "_" + f.Name) }

// Field returns the field of that name.
func (s Spec) Field(name string) (Field, bool) { return find(s.Fields, name) }

func find(fields []Field, name string) (Field, bool) {
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return fields[i], true
}

// Ready reports whether the provider needs no configuration.
func (s Spec) Ready() bool {
	return s.Remote() && !slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Required })
}

// Configured reports whether the provider's required values are present; it does not check that
// they are right.
func (s Spec) Configured(v Values) bool {
	return s.Ready() ||
		s.Remote() && slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Required && v[f.Name] != "" })
}

// Default is the value of a field that is not set.
func (f Field) Default() string {
	if len(f.Values) == 0 {
		return ""
	}
	return f.Values[0]
}

// Secret reports whether the interface never shows the field's value.
func (f Field) Secret() bool { return f.Name != Environment }

// Limit is the maximum number of characters of a value.
func (f Field) Limit() int {
	switch {
	case f.MaxLen > 0:
		return f.MaxLen
	case f.PEM:
		return 20_000
	}
	return 200
}
