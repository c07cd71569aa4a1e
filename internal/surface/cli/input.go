package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// fileFlag is the flag for the file with an op's input: its text if the op takes one, else its body
// as JSON or YAML.
const fileFlag = "file"

// fileNameProp is the input that receives the file's name, in an op that takes a file.
const fileNameProp = "file_name"

// takesBody reports whether the op's input can come from a file of JSON or YAML.
func takesBody(o *op.Op) bool {
	text, _ := o.TextBody()
	if text != "" || o.In.Prop(fileFlag) != nil {
		return false
	}
	for _, p := range o.In.Props {
		if p.In == op.InBody {
			return true
		}
	}
	return false
}

// nested reports whether a value of the schema is an object or contains objects, so that its flag
// takes JSON.
func nested(s *op.Schema) bool {
	if s.Type == "array" {
		return nested(s.Items)
	}
	return s.Type == "object" || s.Type == ""
}

// flags declares a flag for every input that is not a positional argument.
func (c *CLI) flags(cmd *cobra.Command, o *op.Op) {
	text, _ := o.TextBody()
	for _, p := range o.In.Props {
		switch {
		case p.In == op.InPath, p.Name == "wait" && starts(o):
		case p.Name == text:
			cmd.Flags().String(fileFlag, "-", "file to read; - is standard input")
		case p.Type == "boolean":
			cmd.Flags().Bool(flagName(p.Name), false, c.usage(o, p))
		case p.Type == "array":
			cmd.Flags().Var(&values{kind: kind(p.Items) + "s"}, flagName(p.Name), c.usage(o, p))
		default:
			cmd.Flags().Var(&word{kind: kind(p.Schema)}, flagName(p.Name), c.usage(o, p))
		}
	}
	switch {
	case starts(o):
		waitFlags(cmd)
	case o.IsLong():
		cmd.Flags().Bool("follow", false, "show progress until the job ends")
	case pages(o):
		cmd.Flags().Bool("all", false, "fetch all pages")
	}
	if takesBody(o) {
		cmd.Flags().String(fileFlag, "",
			"JSON or YAML file with the input; - is standard input; flags override it")
	}
}

// kind returns the name of a value's type for help.
func kind(s *op.Schema) string {
	switch {
	case nested(s):
		return "object"
	case s.Format == "date", s.Format == "date-time":
		return s.Format
	}
	return s.Type
}

// A word is a flag's single value. The op's schema checks it later.
type word struct{ text, kind string }

func (w *word) String() string     { return w.text }
func (w *word) Set(s string) error { w.text = s; return nil }
func (w *word) Type() string       { return w.kind }

// values collects the values of a flag that can be repeated.
type values struct {
	list []string
	kind string
}

func (v *values) String() string     { return strings.Join(v.list, ",") }
func (v *values) Set(s string) error { v.list = append(v.list, s); return nil }
func (v *values) Type() string       { return v.kind }

// input collects an op's arguments from positional arguments, from flags, and from the file for the
// rest.
func (c *CLI) input(cmd *cobra.Command, o *op.Op, positional, words []string, asJSON bool) (map[string]any, error) {
	given := map[string][]string{}
	for i, name := range positional {
		given[name] = []string{words[i]}
	}
	args := map[string]any{}
	text, _ := o.TextBody()
	for _, p := range o.In.Props {
		if p.Name == text {
			path, _ := cmd.Flags().GetString(fileFlag)
			body, err := c.read(path)
			if err != nil {
				return nil, err
			}
			args[text] = string(body)
			if o.In.Prop(fileNameProp) != nil && path != "-" && !cmd.Flags().Changed(flagName(fileNameProp)) {
				given[fileNameProp] = []string{filepath.Base(path)}
			}
			continue
		}
		flag := cmd.Flags().Lookup(flagName(p.Name))
		if p.In == op.InPath || flag == nil || !flag.Changed || p.Name == "wait" && starts(o) {
			if p.Screen != "" && !asJSON {
				given[p.Name] = []string{p.Screen}
			}
			continue
		}
		list := []string{flag.Value.String()}
		if v, ok := flag.Value.(*values); ok {
			list = v.list
		}
		if v, ok := cleared(o, p, list); ok {
			args[p.Name] = v
			continue
		}
		if !nested(p.Schema) {
			given[p.Name] = list
			continue
		}
		v, err := fromJSON(p, list)
		if err != nil {
			return nil, err
		}
		args[p.Name] = v
	}
	if err := o.FromText(args, given); err != nil {
		return nil, err
	}
	if flag := cmd.Flags().Lookup(fileFlag); takesBody(o) && flag.Changed {
		return args, c.fromFile(o, args, flag.Value.String())
	}
	return args, nil
}

// clears reports whether a flag can clear its field: if the field is nullable, or a list that an
// update replaces. In other commands an empty list may mean everything, so an empty shell variable
// must not produce one.
func clears(o *op.Op, p op.Prop) bool {
	replaced := p.Type == "array" && p.In == op.InBody &&
		(o.Method == http.MethodPatch || o.Method == http.MethodPut) && (p.MinLen == nil || *p.MinLen == 0)
	return p.Type != "boolean" && (p.Nullable || replaced)
}

// cleared returns the value that clears a field, if the flag's value asks for it: null or an empty
// string. A text that may be empty is cleared by null only.
func cleared(o *op.Op, p op.Prop, list []string) (any, bool) {
	empty := p.Type == "string" && (p.MinLen == nil || *p.MinLen == 0) && len(p.Enum) == 0 && p.Format == ""
	if len(list) != 1 || !clears(o, p) || list[0] != "null" && (list[0] != "" || empty) {
		return nil, false
	}
	if p.Nullable {
		return nil, true
	}
	return []any{}, true
}

// fromJSON reads the values of a flag that takes JSON. Each value of a list flag is one item or a
// JSON list of several.
func fromJSON(p op.Prop, list []string) (any, error) {
	items := []any{}
	for _, text := range list {
		v, err := op.ParseValue([]byte(text))
		if err != nil {
			return nil, errs.Field(p.Name, "type", `must be JSON in single quotes, such as '%s': %s`, shape(p.Schema),
				op.Shown(err))
		}
		if p.Type != "array" {
			return v, nil
		}
		if several, ok := v.([]any); ok {
			items = append(items, several...)
		} else {
			items = append(items, v)
		}
	}
	return items, nil
}

// shape returns an outline of a value: an object with its first field.
func shape(s *op.Schema) string {
	if s.Type == "array" {
		s = s.Items
	}
	for _, p := range s.Props {
		return fmt.Sprintf(`{"%s": …}`, p.Name)
	}
	return `{"…": …}`
}

// fromFile adds the content of a file to args, except for names that args already has. The file is
// the whole input, the input's only list of objects, or one item of that list.
func (c *CLI) fromFile(o *op.Op, args map[string]any, path string) error {
	raw, err := c.read(path)
	if err != nil {
		return err
	}
	v, err := decode(raw)
	if err != nil {
		return err
	}
	m, isObject := v.(map[string]any)
	if list := mainList(o); list != nil {
		if items, ok := v.([]any); ok {
			m, isObject = map[string]any{list.Name: items}, true
		} else if isObject && !anyKnown(o, m) {
			m = map[string]any{list.Name: []any{m}}
		}
	}
	if !isObject {
		return errs.New(errs.ValidationError, "the file must contain an object with any of: %s",
			strings.Join(bodyNames(o), ", "))
	}
	for name, value := range m {
		if p := o.In.Prop(name); p != nil && p.In == op.InPath {
			return errs.New(errs.ValidationError, "pass %s on the command line, not in the file", name)
		}
		if _, given := args[name]; !given {
			args[name] = value
		}
	}
	return nil
}

func anyKnown(o *op.Op, m map[string]any) bool {
	for name := range m {
		if o.In.Prop(name) != nil {
			return true
		}
	}
	return false
}

func bodyNames(o *op.Op) []string {
	var names []string
	for _, p := range o.In.Props {
		if p.In == op.InBody {
			names = append(names, p.Name)
		}
	}
	return names
}

// mainList returns the input's only list of objects, or nil.
func mainList(o *op.Op) *op.Prop {
	var found *op.Prop
	for i, p := range o.In.Props {
		if p.Type == "array" && nested(p.Schema) {
			if found != nil {
				return nil
			}
			found = &o.In.Props[i]
		}
	}
	return found
}

// read returns a file's content; - is standard input.
func (c *CLI) read(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(c.In)
	}
	b, err := os.ReadFile(path) //nolint:gosec // the person who runs the command chooses the file
	if err != nil {
		return nil, errs.New(errs.ValidationError, "cannot read the file: %v", err)
	}
	return b, nil
}

// decode reads JSON, or YAML if the text does not start like JSON. Numbers keep their notation.
func decode(raw []byte) (any, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	start := bytes.TrimLeft(raw, " \t\r\n")
	if len(start) == 0 {
		return nil, errs.New(errs.ValidationError, "the file is empty")
	}
	if start[0] == '{' || start[0] == '[' {
		v, err := op.ParseValue(raw)
		if err == nil {
			return v, nil
		}
		if y, yerr := fromYAML(raw); yerr == nil { // flow-style YAML starts like JSON
			return y, nil
		}
		return nil, errs.New(errs.ValidationError, "the file is neither valid JSON nor YAML: %s", op.Shown(err))
	}
	v, err := fromYAML(raw)
	if err != nil {
		return nil, errs.New(errs.ValidationError, "the file is not valid YAML: %v", err)
	}
	return v, nil
}

// maxNodes limits how large a file can become, because a YAML alias repeats its anchor's content.
const maxNodes = 1_000_000

func fromYAML(raw []byte) (any, error) {
	d := yaml.NewDecoder(bytes.NewReader(raw))
	var first, next yaml.Node
	if err := d.Decode(&first); err != nil {
		return nil, plainYAML(err)
	}
	if err := d.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, errors.New("it contains more than one document")
	}
	y := yamlReader{left: maxNodes}
	return y.value(&first)
}

// plainYAML removes the prefix of a parser error and keeps its position.
func plainYAML(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "yaml: ")) }

type yamlReader struct{ left, depth int }

func (y *yamlReader) value(n *yaml.Node) (any, error) {
	y.left--
	y.depth++
	defer func() { y.depth-- }()
	if y.left < 0 || y.depth > 64 {
		return nil, fmt.Errorf("line %d: it is too large or nested too deeply", n.Line)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return y.value(n.Content[0])
	case yaml.AliasNode:
		return y.value(n.Alias)
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			v, err := y.value(item)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if _, twice := m[key.Value]; twice || key.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: a name must be plain text and appear once", key.Line)
			}
			v, err := y.value(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			m[key.Value] = v
		}
		return m, nil
	}
	switch n.ShortTag() {
	case "!!null":
		return nil, nil //nolint:nilnil // null is the value
	case "!!bool":
		return n.Value == "true" || n.Value == "True" || n.Value == "TRUE", nil
	case "!!int", "!!float":
		if v, err := op.ParseValue([]byte(n.Value)); err == nil {
			if number, ok := v.(json.Number); ok {
				return number, nil
			}
		}
	}
	return n.Value, nil // text, dates, and numbers in forms that JSON does not have
}
