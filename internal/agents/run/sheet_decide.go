package run

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"coffer/internal/agents/workflow"
	"coffer/internal/llm"
	"coffer/internal/platform/op"
	"coffer/internal/platform/text"
)

// decideTool is the one tool of a sheet.
const decideTool = "decide"

const (
	maxReason       = 160 // runes of a note
	maxCounterparty = 100 // runes of a counterparty's name
	maxRowTags      = 5
)

// decideFor returns the tool of a worklist. It is the same, byte for byte, on all sheets of a run,
// because servers cache the tools with the system prompt. So it does not say how many rows a sheet
// has.
func decideFor(w workflow.Worklist) llm.Tool {
	row := []string{`"row":{"type":"integer","minimum":1}`}
	if w.Decides(workflow.SetsCategory) {
		row = append(row, `"category":{"type":"string","description":"One of the categories above the rows"}`)
	}
	if w.Decides(workflow.SetsTags) {
		row = append(row, fmt.Sprintf(`"tags":{"type":"array","items":{"type":"string"},"maxItems":%d,"description":`+
			`"Tags to add, of those above the rows"}`, maxRowTags))
	}
	if w.Decides(workflow.SetsCounterparty) {
		row = append(row, fmt.Sprintf(`"counterparty":{"type":"string","maxLength":%d,"description":`+
			`"The name of the business or person"}`, maxCounterparty))
	}
	row = append(row, fmt.Sprintf(`"note":{"type":"string","maxLength":%d,"description":"Why, in a few words"}`,
		maxReason), `"sure":{"type":"boolean","description":"false: a person decides"}`)
	return llm.Tool{
		Name: decideTool,
		Description: "Decides the rows of the sheet. Sure answers are applied; the rest is left for a person, with " +
			"the note. Include every row once.",
		Schema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string","description":` +
			`"The code in the first line of your instructions"},"rows":{"type":"array","items":{"type":"object",` +
			`"properties":{` + strings.Join(row, ",") + `},"required":["row","note","sure"]}}},` +
			`"required":["code","rows"]}`),
	}
}

// A decision is the model's answer for a row of the sheet.
type decision struct {
	row          int
	sure         bool
	category     string
	tags         []string
	counterparty string
	note         string
}

// A fault is the reason why an answer for a row is rejected.
type fault struct {
	row int
	why string
}

// readDecisions returns the usable decisions of a call of decide: at most one for each row of the
// sheet that has no answer yet. It ignores fields that the worklist does not set, and does not
// check the code.
func readDecisions(args map[string]any, w workflow.Worklist, s sheet, open map[int]bool) ([]decision, []fault) {
	list, ok := args["rows"].([]any)
	if !ok {
		return nil, []fault{{why: "rows must be a list of objects"}}
	}
	var out []decision
	var faults []fault
	earlier, twice := map[int]string{}, map[int]bool{}
	for i, v := range list {
		if i >= 4*workflow.MaxSheet {
			break // more entries can only be repetitions
		}
		m, ok := v.(map[string]any)
		if !ok {
			faults = append(faults, fault{why: "every entry of rows must be an object"})
			continue
		}
		n := number(m["row"])
		if n < 1 || n > len(s.rows) {
			faults = append(faults, fault{
				why: fmt.Sprintf("row not found; the sheet has rows 1 to %d", len(s.rows)),
			})
			continue
		}
		if !open[n] {
			continue // answered before; the first answer counts
		}
		printed, err := json.Marshal(m)
		if before, again := earlier[n]; again {
			if err != nil || before != string(printed) {
				twice[n] = true
			}
			continue
		}
		earlier[n] = string(printed)
		d, why := readDecision(m, w, s)
		if d.row = n; why != "" {
			faults = append(faults, fault{n, why})
			continue
		}
		out = append(out, d)
	}
	// If a row has two different answers, neither counts.
	out = slices.DeleteFunc(out, func(d decision) bool { return twice[d.row] })
	faults = slices.DeleteFunc(faults, func(f fault) bool { return twice[f.row] })
	for n := range twice {
		faults = append(faults, fault{n, "it has two different answers; answer it once"})
	}
	slices.SortStableFunc(faults, func(a, b fault) int { return a.row - b.row })
	return out, faults
}

// readDecision reads the answer for one row.
func readDecision(m map[string]any, w workflow.Worklist, s sheet) (d decision, why string) {
	switch v := m["sure"].(type) {
	case bool:
		d.sure = v
	case string:
		d.sure = strings.EqualFold(v, "true")
	default:
		return d, "sure must be true or false"
	}
	note, _ := m["note"].(string)
	d.note = text.Line(text.Prose(note, 4*maxReason).Plain(), maxReason).Plain()
	if w.Decides(workflow.SetsCategory) {
		if d.category, why = chosen("category", m["category"], s.categories); why != "" && d.sure {
			return d, why
		}
	}
	if w.Decides(workflow.SetsTags) {
		if d.tags, why = chosenTags(m["tags"], s.tags); why != "" && d.sure {
			return d, why
		}
	}
	if w.Decides(workflow.SetsCounterparty) {
		if d.counterparty, why = counterpartyName(m["counterparty"]); why != "" && d.sure {
			return d, why
		}
	}
	if d.sure && d.category == "" && d.counterparty == "" && !w.Decides(workflow.SetsTags) &&
		!w.Decides(workflow.SetsComment) {
		return d, "sure is true, but nothing is decided"
	}
	if !d.sure && d.note == "" {
		return d, "note must say why it is left for a person"
	}
	return d, ""
}

// number reads a row's number. Small models send it as a string.
func number(v any) int {
	s := ""
	switch v := v.(type) {
	case json.Number:
		s = v.String()
	case string:
		s = strings.TrimSpace(v)
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// chosen returns the entry of the list that the model means.
func chosen(field string, v any, list []string) (string, string) {
	given, _ := v.(string)
	word := strings.ToLower(strings.TrimSpace(given))
	if word == "" {
		return "", field + " is missing; choose one from the list, or pass sure: false"
	}
	if slices.Contains(list, word) {
		return word, ""
	}
	all := make([]op.Candidate, len(list))
	for i, w := range list {
		all[i] = op.Candidate{Value: w}
	}
	near := ""
	for i, c := range op.Nearest(word, all) {
		if near += ", "; i == 0 {
			near = "; similar: "
		}
		near += c.Value
	}
	return "", field + " is not in the list" + near
}

func chosenTags(v any, list []string) (tags []string, why string) {
	given, ok := v.([]any)
	if v != nil && !ok {
		return nil, "tags must be a list"
	}
	for _, t := range given {
		tag, why := chosen("a tag", t, list)
		if why != "" {
			return nil, why
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if len(tags) > maxRowTags {
		return nil, fmt.Sprintf("it has more than %d tags", maxRowTags)
	}
	return tags, ""
}

// counterpartyName returns a name that may be stored. It rejects addresses, because somebody could
// follow them.
func counterpartyName(v any) (string, string) {
	given, _ := v.(string)
	name := text.Line(given, maxCounterparty).Plain()
	switch {
	case name == "":
		return "", "counterparty is missing; name it, or pass sure: false"
	case address(name):
		return "", "counterparty must be a name, not an address"
	}
	return name, ""
}

// address reports whether a text contains an address that a program may turn into a link.
func address(s string) bool {
	low := strings.ToLower(s)
	return strings.Contains(low, "://") || strings.Contains(low, "www.") || strings.Contains(low, "@")
}

// codeRight reports whether the model sent the right code.
func codeRight(args map[string]any, want string) bool {
	given, _ := args["code"].(string)
	return strings.EqualFold(strings.TrimSpace(given), want)
}

// returned returns the message to the model after a call of decide: the rejected decisions and the
// unanswered rows. It does not repeat the model's own words.
func returned(taken int, faults []fault, open []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Taken: %d.", taken)
	mentioned := map[int]bool{}
	for i, f := range faults {
		if i == workflow.MaxSheet {
			break
		}
		if f.row > 0 {
			mentioned[f.row] = true
			fmt.Fprintf(&b, " Row %d: %s.", f.row, f.why)
		} else if !strings.Contains(b.String(), f.why) {
			fmt.Fprintf(&b, " Rejected: %s.", f.why)
		}
	}
	var missing []string
	for _, n := range open {
		if !mentioned[n] {
			missing = append(missing, strconv.Itoa(n))
		}
	}
	if len(missing) > 0 {
		b.WriteString(" No answer: " + strings.Join(missing, ", ") + ".")
	}
	if len(open) == 0 {
		b.WriteString(" The sheet is done.")
	} else {
		b.WriteString(" Call decide again, with these rows only.")
	}
	return b.String()
}
