package op

import (
	"encoding/json"
	"strconv"
	"strings"

	"coffer/internal/platform/errs"
)

// FromText adds textual arguments (path, query, flags) to args and parses each according to its
// schema. An argument that the op does not know is kept as text; validation rejects it later.
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
			faults = append(faults, errs.Detail{Field: name, Code: "repeated", Message: "must appear only " +
				"once"})
			continue
		}
		args[name] = p.fromText(values[0])
	}
	return errs.Faults(faults)
}

// list parses a parameter that is repeated or comma-separated. Objects contain commas, so each
// value of the parameter then holds one object.
func list(item *Schema, values []string) []any {
	out := []any{}
	for _, v := range values {
		if item.Type == "object" {
			out = append(out, item.fromText(v))
			continue
		}
		for part := range strings.SplitSeq(v, ",") {
			out = append(out, item.fromText(strings.TrimSpace(part)))
		}
	}
	return out
}

// fromText parses one value. If it cannot, it returns the text unchanged, and validation reports
// what is wrong with it.
func (s *Schema) fromText(v string) any {
	switch s.Type {
	case "boolean":
		if b, err := strconv.ParseBool(v); err == nil {
			return b
		}
	case "integer":
		if n, err := strconv.Atoi(v); err == nil {
			return json.Number(strconv.Itoa(n)) // +5 and 007 are not valid JSON
		}
	case "number":
		if n, err := s.numbers().parse(v); err == nil {
			return json.Number(n.String()) // .5 is not valid JSON
		}
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
