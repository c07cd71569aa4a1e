package all_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
)

var word = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// A spec is consistent with the provider that it creates, and its fields do not conflict with those
// of other specs.
func TestSpecs(t *testing.T) {
	t.Parallel()
	shared := map[string]bank.Field{}
	var names []string
	for _, s := range all.Specs {
		if !word.MatchString(s.Name) || strings.Contains(s.Name, "_") || slices.Contains(names, s.Name) ||
			s.Title == "" || !slices.Contains(s.Kind.Enum(), string(s.Kind)) {
			t.Errorf("%q is not a name of its own, or has no title or kind", s.Name)
		}
		names = append(names, s.Name)
		if !s.Remote() {
			continue
		}
		if s.Type.Name() != s.Name || s.Type.Traits().Title != s.Title {
			t.Errorf("%s: the spec says %s, the provider %s, %s", s.Name, s.Title, s.Type.Name(), s.Type.Traits().Title)
		}
		if _, ok := s.Type.(bank.Embedder); ok != strings.Contains(s.Script, "widgets."+s.Name+" = ") {
			t.Errorf("%s: a widget and the script that starts it belong together", s.Name)
		}
		if _, ok := s.Type.(bank.Linker); ok != (s.Given != "") {
			t.Errorf("%s: Given must say what Exchange takes", s.Name)
		}
		if ok := slices.Contains(s.Capabilities(), bank.CanLink); ok != (s.Link.Way != "") {
			t.Errorf("%s: Link must say how a bank is connected", s.Name)
		}
		if !s.Ready() && !s.Fields[0].Required {
			t.Errorf("%s: the first field must be required: with it the provider is configured", s.Name)
		}
		if _, ok := s.Type.(bank.Former); ok != (s.Link.Way == bank.ByForm) || ok != (len(s.Link.Fields) > 0) {
			t.Errorf("%s: a form belongs to a Former", s.Name)
		}
		if _, ok := s.Type.(bank.Chooser); ok != s.Link.Institutions {
			t.Errorf("%s: a list of banks belongs to a Chooser", s.Name)
		}
		for _, f := range s.Link.Fields {
			checkField(t, s, f, map[string]bank.Field{})
		}
		for _, f := range s.Fields {
			checkField(t, s, f, shared)
		}
	}
}

// checkField checks a field by itself, and compares it with the first field of the same name: both
// share one flag and one property.
func checkField(t *testing.T, s bank.Spec, f bank.Field, shared map[string]bank.Field) {
	t.Helper()
	if !word.MatchString(f.Name) || f.Name == "provider" || f.Doc == "" {
		t.Errorf("%s: %q is not a name of a field, or nothing documents it", s.Name, f.Name)
	}
	unknown := func(v string) bool { return !slices.Contains(bank.Environments, v) }
	if (f.Name == bank.Environment) != (len(f.Values) > 0) || slices.ContainsFunc(f.Values, unknown) {
		t.Errorf("%s: %s alone has values, all of bank.Environments", s.Name, bank.Environment)
	}
	if f.Local {
		return
	}
	if f.Title == "" {
		t.Errorf("%s: forms need a title of %s", s.Name, f.Name)
	}
	if first, ok := shared[f.Name]; ok && (first.Required != f.Required || first.PEM != f.PEM ||
		first.Limit() != f.Limit()) {
		t.Errorf("%s: another provider has a field %s of another shape; choose another name", s.Name, f.Name)
	}
	shared[f.Name] = f
}

// configured creates the providers that are configured if only the named one has values. It returns
// 1 if the named provider is among them, else 0.
func configured(name string, v bank.Values) (int, error) {
	made, err := all.Configured(map[string]bank.Values{name: v})
	n := 0
	for _, p := range made {
		if p.Name() == name {
			n++
		}
	}
	return n, err
}

// A provider is created from the values of its fields. A provider without values is left out,
// unless it needs none.
func TestConfigured(t *testing.T) {
	t.Parallel()
	made, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(made)}))
	for _, s := range all.Specs {
		n, err := configured(s.Name, bank.Values{})
		if err != nil || (n == 1) != s.Ready() {
			t.Errorf("%s without values: %d made, %v", s.Name, n, err)
		}
		if !s.Remote() {
			continue
		}
		values := bank.Values{}
		for _, f := range s.Fields {
			switch values[f.Name] = f.Default(); {
			case f.Required && f.PEM:
				values[f.Name] = key
			case f.Required:
				values[f.Name] = "value"
			}
		}
		if n, err = configured(s.Name, values); err != nil || n != 1 {
			t.Errorf("%s with its required fields: %d made, %v", s.Name, n, err)
		}
	}
}

// The two enumerations differ only in files.
func TestNames(t *testing.T) {
	t.Parallel()
	every, remote := all.Name("").Enum(), all.Remote("").Enum()
	if !slices.Equal(every, append(slices.Clone(remote), bank.CSV)) || !slices.Contains(remote, all.Default()) {
		t.Errorf("all are %q, asked are %q, the default is %s", every, remote, all.Default())
	}
	if _, ok := all.Find("nobody"); ok {
		t.Error("a provider that is not listed was found")
	}
}
