package bank

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// A Spec describes a provider before anyone has configured it. Every provider's package exports
// one, and package all lists them; settings, environment variables, enumerations, help texts and
// webhook addresses are made from that list.
type Spec struct {
	// Name is how the provider is stored and named in the interface: lower-case letters and digits.
	Name string
	// Title is how people know it.
	Title string
	// Kind says what sort of service it is.
	Kind Kind
	// Countries are where its banks are, as ISO 3166 codes; none means everywhere.
	Countries []string
	// Guide is the address of the page where a household gets the values of the fields.
	Guide string
	// Link is how banks are connected. Its Way is "" if the provider is no [Linker], and [ByForm]
	// if it is a [Former].
	Link Link
	// Fields are its configuration. The interface never shows their values; it shows how they end.
	// If none of them is required, the provider needs no configuration: banks can be connected at
	// once.
	Fields []Field
	// Given lists the parts of what [Linker.Exchange] takes, for callers that run the widget
	// themselves.
	Given string
	// Script starts the widget of an [Embedder]: JavaScript that adds a function named
	// [Widget.Connect] to widgets.
	Script string
	// Type is a nil of the type that New makes. The interfaces which that type implements are the
	// capabilities.
	Type Provider
	// New makes the provider. It is nil if there is nothing to ask: files are uploaded.
	New func(Values) (Provider, error)
}

// A Field is one part of a provider's configuration. The variable of the field client_id of the
// provider bank is COFFER_BANK_CLIENT_ID.
type Field struct {
	// Name is the field's name in the interface, in snake case.
	Name string
	// Title is how forms label it.
	Title string
	// Doc says what it is and where to find it.
	Doc string
	// Required marks fields that cannot be cleared. A provider with none of them set is not
	// configured.
	Required bool
	// PEM marks certificates and keys. Their variable names a file.
	PEM bool
	// Local marks fields that only the server's environment may set. A caller who could set an
	// address through the interface would receive the secrets.
	Local bool
	// MaxLen is the most characters of a value; 0 means 200, or 20,000 of PEM.
	MaxLen int
	// Values are the only values there are, and the first is the default. Only [Environment] has
	// them.
	Values []string
	// Example is a value for the help.
	Example string
}

// A Kind is a sort of provider.
type Kind string

// The kinds of providers.
const (
	Aggregator  Kind = "aggregator"   // a company signs in at banks for the household
	OpenBanking Kind = "open_banking" // the bank's own interface, by its consent page
	Token       Kind = "token"        // the household pastes a token
	FileKind    Kind = "files"        // nobody is asked: the household uploads files
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
	ByRedirect Way = "redirect" // the bank's own page, which leads back
)

// Enum lists the values of the type.
func (Way) Enum() []string { return []string{string(ByPage), string(ByForm), string(ByRedirect)} }

// A Link says how banks are connected through a provider, so that a form can ask for what it takes.
type Link struct {
	Way Way
	// Fields are what the member enters.
	Fields []Field
	// Institutions means that the member chooses the bank first, in a list of the provider.
	Institutions bool
}

// Field returns the field of that name.
func (l Link) Field(name string) (Field, bool) { return find(l.Fields, name) }

// CSV is the provider's name of connections that people upload files into.
const CSV = "csv"

// Manual stands where a provider is named for accounts that no bank keeps: the household writes
// them down itself.
const Manual = "manual"

// Files stands in the list of providers for files: nothing is asked, configured or synced.
var Files = Spec{Name: CSV, Title: "Files", Kind: FileKind}

// Environment is the field that says which of a provider's systems is asked.
const Environment = "environment"

// Environments are the values that the field Environment can have. A provider has some of them.
var Environments = []string{"sandbox", "development", "production"}

// Values are a provider's configuration, by the names of its fields. Everything that formats, logs
// or encodes them gets a placeholder.
type Values map[string]string

const noValues = "[values]"

func (v Values) String() string { return noValues }

// Format gives every verb the placeholder.
func (v Values) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, noValues) }

// LogValue keeps the values out of logs.
func (v Values) LogValue() slog.Value { return slog.StringValue(noValues) }

// MarshalJSON keeps the values out of responses.
func (v Values) MarshalJSON() ([]byte, error) { return []byte(`"` + noValues + `"`), nil }

// Remote reports whether the provider is asked over the network, so that it is configured and
// synced.
func (s Spec) Remote() bool { return s.New != nil }

// Webhooks reports whether the provider sends webhooks.
func (s Spec) Webhooks() bool {
	_, ok := s.Type.(Webhooker)
	return ok
}

// MinInterval is the shortest time between two syncs that can bring something new; 0 if nothing is
// synced.
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

// Configured reports whether the values configure the provider, rightly or not.
func (s Spec) Configured(v Values) bool {
	return s.Ready() ||
		s.Remote() && slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Required && v[f.Name] != "" })
}

// Default is the value of a field that nobody has set.
func (f Field) Default() string {
	if len(f.Values) == 0 {
		return ""
	}
	return f.Values[0]
}

// Secret reports whether the interface never shows the field's value.
func (f Field) Secret() bool { return f.Name != Environment }

// Limit is the most characters that a value may have.
func (f Field) Limit() int {
	switch {
	case f.MaxLen > 0:
		return f.MaxLen
	case f.PEM:
		return 20_000
	}
	return 200
}
