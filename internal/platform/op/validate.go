package op

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// validate checks v against the schema and collects every fault with its path. Messages state what
// is expected and never repeat the given value.
func (s *Schema) validate(v any, path string, faults *[]errs.Detail) {
	add := func(code, format string, args ...any) {
		*faults = append(*faults, errs.Detail{Field: path, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if s.Unchecked || len(*faults) > errs.MaxFaults {
		return // nobody reads further faults
	}
	if v == nil {
		if !s.Nullable && s.Type != "" {
			add("type", "must be %s, not null", article(s.Type))
		}
		return
	}
	switch s.Type {
	case "object":
		s.validateObject(v, path, faults, add)
	case "array":
		list, ok := v.([]any)
		if !ok {
			add("type", "must be a list%s", unlike(v))
			return
		}
		s.bounds(len(list), "items", add)
		for i, item := range list {
			s.Items.validate(item, path+"["+strconv.Itoa(i)+"]", faults)
		}
	case "string":
		switch t := v.(type) {
		case string:
			s.validateString(t, faults, add)
		case File:
			s.validateFile(t, faults, add)
		default:
			add("type", "must be a string")
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			add("type", "must be true or false")
		}
	case "integer":
		s.validateInteger(v, add)
	case "number":
		if _, err := s.numbers().parse(fmt.Sprint(v)); err != nil {
			add("type", "must be %s", s.numbers().form)
		}
	}
}

// Check validates a value from elsewhere than a call; errors call it name.
func (s *Schema) Check(v any, name string) error {
	var faults []errs.Detail
	s.validate(v, name, &faults)
	return errs.Faults(faults)
}

// unlike describes the mistakes that models make most: JSON sent as a string, or a single value
// without the list around it.
func unlike(v any) string {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[") {
			return ", not a string: send the JSON itself, without quotes around it"
		}
		return ", not a text"
	case []any:
		return ", not a list"
	}
	return ""
}

type addFault func(code, format string, args ...any)

func (s *Schema) validateObject(v any, path string, faults *[]errs.Detail, add addFault) {
	m, ok := v.(map[string]any)
	if !ok {
		add("type", "must be an object%s", unlike(v))
		return
	}
	at := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	if s.Values != nil {
		for name, item := range m {
			s.Values.validate(item, at(name), faults)
		}
		return
	}
	for _, p := range s.Props {
		item, given := m[p.Name]
		if one, ok := item.(string); ok && p.Single {
			item = []any{one}
			m[p.Name] = item
		}
		if given {
			p.validate(item, at(p.Name), faults)
		} else if p.Required {
			*faults = append(*faults, errs.Detail{Field: at(p.Name), Code: "required", Message: "is required"})
		}
	}
	var strange []string
	for name := range m {
		if s.Prop(name) == nil {
			strange = append(strange, name)
		}
	}
	slices.Sort(strange)
	for _, name := range strange[:min(len(strange), errs.MaxFaults+1)] {
		*faults = append(*faults, errs.Detail{Field: at(printable(name)), Code: "unknown", Message: s.unknown(name)})
	}
}

// validateFile checks a file against the schema. If the schema expects text, a file counts as text.
func (s *Schema) validateFile(f File, faults *[]errs.Detail, add addFault) {
	if s.Format == "file" {
		s.bounds(len(f), "bytes", add)
		return
	}
	s.validateString(string(f), faults, add)
}

func (s *Schema) validateString(t string, faults *[]errs.Detail, add addFault) {
	s.bounds(utf8.RuneCountInString(t), "characters", add)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, t):
		add("enum", "must be one of: %s", strings.Join(s.Enum, ", "))
		(*faults)[len(*faults)-1].Suggestions = near(t, s.Enum)
	case s.Pattern != nil && !s.Pattern.MatchString(t):
		hint := s.Hint
		if hint == "" {
			hint = "match " + s.Pattern.String()
		}
		add("pattern", "must %s", hint)
	case s.Format == "line" && !IsLine(t):
		add("pattern", "must be one line of plain text, without control or invisible characters and without spaces "+
			"around it")
	case s.Format == "uuid":
		if _, err := id.Parse(t); err != nil {
			add("format", "must be a UUID")
		}
	case s.Format == "date":
		if _, err := pg.ParseDate(t); err != nil {
			add("format", "must be a date, such as 2026-11-15")
		}
	case s.Format == momentFormat:
		if _, err := pg.ParseMoment(t); err != nil {
			add("format", "must be a date, such as 2026-11-15, or an RFC 3339 timestamp, such as 2026-11-15T09:30:00Z")
		}
	case s.Format == "date-time":
		if _, err := time.Parse(time.RFC3339Nano, t); err != nil {
			add("format", "must be an RFC 3339 timestamp, such as 2026-11-15T09:30:00Z")
		}
	}
	if strings.ContainsRune(t, 0) || !utf8.ValidString(t) {
		add("pattern", "must be text without NUL characters")
	}
}

// IsLine reports whether t is one line of visible text, as names must be. Names travel to models,
// terminals and spreadsheets, so nothing invisible may hide in them.
func IsLine(t string) bool { return text.Line(t, len(t)+1).Plain() == t }

func (s *Schema) validateInteger(v any, add addFault) {
	num, ok := v.(json.Number)
	n, err := strconv.Atoi(num.String())
	if !ok || err != nil {
		add("type", "must be a whole number")
		return
	}
	if s.Min != nil && n < *s.Min || s.Max != nil && n > *s.Max {
		add("range", "must be %s", span(s.Min, s.Max, ""))
	}
}

func (s *Schema) bounds(n int, unit string, add addFault) {
	switch {
	case n == 0 && s.MinLen != nil && *s.MinLen == 1:
		add("empty", "must not be empty")
	case s.MinLen != nil && n < *s.MinLen || s.MaxLen != nil && n > *s.MaxLen:
		add("length", "must have %s", span(s.MinLen, s.MaxLen, " "+unit))
	}
}

func span(lo, hi *int, unit string) string {
	switch {
	case lo != nil && hi != nil && (*lo > 0 || unit == ""): // a length is never below 0, but a number may be
		return fmt.Sprintf("from %d to %d%s", *lo, *hi, unit)
	case hi != nil:
		return fmt.Sprintf("at most %d%s", *hi, unit)
	}
	return fmt.Sprintf("at least %d%s", *lo, unit)
}

func article(kind string) string {
	if kind == "object" || kind == "array" || kind == "integer" {
		return "an " + kind
	}
	return "a " + kind
}

// unknown explains an unknown name and suggests the closest known one, so that a caller can correct
// a typo without reading the manual.
func (s *Schema) unknown(name string) string {
	best, distance := "", 3
	names := make([]string, 0, len(s.Props))
	for _, p := range s.Props {
		names = append(names, p.Name)
		if d := edits(strings.ToLower(name), p.Name); d < distance {
			best, distance = p.Name, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf("unknown field; did you mean %s?", best)
	case len(names) == 0:
		return "unknown field; this call takes no input"
	}
	return "unknown field; expected one of: " + strings.Join(names, ", ")
}

// printable reduces an unknown name to harmless characters, so that the answer cannot carry
// anything but a name.
func printable(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '?'
	}, name)
	return clean[:min(len(clean), 40)]
}

// edits returns the Levenshtein distance of two short words; long words count as far apart.
func edits(a, b string) int {
	if len(a) > 40 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j+1]+1, row[j]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
