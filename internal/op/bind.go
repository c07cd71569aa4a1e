package op

import (
	"encoding/json"
	"strconv"
	"strings"

	"coffer/internal/errs"
)

// FromText adds textual arguments (path, query, flags) to args, each read as its schema says. A name that the op does not know stays as text: validation names it.
func (o *Op) FromText(args map[string]any, given map[string][]string) error {
	var faults []errs.Detail
	for name, values := range given {
		p := o.In.Prop(name)
		if p == nil {
			args[name] = values[0]
			continue
		}
		if p.Type == "array" {
			args[name] = list(p.Items, values)
			continue
		}
		if len(values) > 1 {
			faults = append(faults, errs.Detail{Field: name, Code: "repeated", Message: "must be given once"})
			continue
		}
		args[name] = p.fromText(values[0])
	}
	return errs.Faults(faults)
}

// list reads a repeated or comma-separated parameter.
func list(item *Schema, values []string) []any {
	out := []any{}
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			out = append(out, item.fromText(strings.TrimSpace(part)))
		}
	}
	return out
}

// fromText reads one value; what cannot be read stays text, which validation then refuses with the right words.
func (s *Schema) fromText(v string) any {
	switch s.Type {
	case "boolean":
		if b, err := strconv.ParseBool(v); err == nil {
			return b
		}
	case "integer", "number":
		return json.Number(v)
	case "object", "":
		if parsed, err := parse([]byte(v)); err == nil {
			return parsed
		}
	}
	if s.Nullable && v == "null" {
		return nil
	}
	return v
}
