package run

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/agents/workflow"
	"coffer/internal/llm"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/text"
)

// The bodies of lines. Transcripts show them unchanged.
type (
	textLine struct {
		Text      string `json:"text"`
		Untrusted bool   `json:"untrusted,omitempty"`
	}
	noteLine struct {
		Text string `json:"text"`
	}
	definitionLine struct {
		Definition json.RawMessage `json:"definition"`
		Hash       string          `json:"hash"`
	}
	assistantLine struct {
		Turn  int    `json:"turn"`
		Text  string `json:"text"`
		Calls []call `json:"calls"`
		Stop  string `json:"stop"`
		Model string `json:"model"`
		// Raw is the message in the form in which it must be sent back. It is JSON in a string,
		// because the database does not preserve the text of JSON.
		Raw       string `json:"raw"`
		Untrusted bool   `json:"untrusted"`
	}
	callLine struct {
		Call      string          `json:"call"`
		N         int             `json:"n"` // its position in the answer
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		Route     route           `json:"route"`
		Why       string          `json:"why,omitempty"`
	}
	resultLine struct {
		Call      string `json:"call"`
		N         int    `json:"n"`
		IsError   bool   `json:"is_error"`
		Untrusted bool   `json:"untrusted"`
		Content   string `json:"content"`
		ChangeID  *id.ID `json:"change_id,omitempty"`
		TookMS    int64  `json:"took_ms"`
	}
	usageLine struct {
		Turn        int           `json:"turn"`
		Input       int64         `json:"input_tokens"`
		CacheRead   int64         `json:"cache_read_tokens"`
		CacheWrite  int64         `json:"cache_write_tokens"`
		Output      int64         `json:"output_tokens"`
		Bytes       int64         `json:"request_bytes"`
		MaxTokens   int           `json:"max_tokens"`
		ReservedUSD *money.Micros `json:"reserved_usd"`
		CostUSD     *money.Micros `json:"cost_usd"`
		RequestID   string        `json:"request_id,omitempty"`
		Retries     int           `json:"retries"`
		TookMS      int64         `json:"took_ms"`
	}
	limitLine struct {
		Limit string `json:"limit"`
		Most  any    `json:"most,omitempty"`
		Used  any    `json:"used,omitempty"`
		Then  string `json:"then"` // ended or planning
	}
)

// A call is a tool call of the model, as it is stored.
type call struct {
	ID        string          `json:"id"`
	N         int             `json:"n"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Broken    string          `json:"broken,omitempty"` // why it must not be run
}

// A state is the state of a run, rebuilt from its lines.
type state struct {
	begun   bool // the definition is stored
	system  string
	turns   []llm.Turn
	last    *assistantLine // the last answer of this conversation; nil before the first
	open    []call         // calls of last without a result
	prompt  llm.Prompt     // the last request of this conversation
	unasked bool           // the model has not been asked in this conversation
	empty   int            // unusable answers in a row
	keys    []string       // all calls, to find repetitions
	given   []string       // texts of the household and its tools, to check the figures of a report
	lines   []workflow.Line
	results map[int]resultLine // of the last answer, by position
}

// fold updates the state with a line.
func (s *state) fold(l workflow.Line) error {
	s.lines = append(s.lines, l)
	switch l.Kind {
	case workflow.LineDefinition:
		s.begun = true
	case workflow.LineSystem:
		b, err := body[textLine](l)
		*s = state{begun: true, system: b.Text, unasked: true, given: s.given, lines: s.lines, empty: s.empty}
		return err
	case workflow.LineUser:
		b, err := body[textLine](l)
		s.turns, s.given = append(s.request(), llm.Turn{User: b.Text}), append(s.given, b.Text)
		s.last = nil
		return err
	case workflow.LineAssistant:
		b, err := body[assistantLine](l)
		if err != nil {
			return err
		}
		s.answer(b)
	case workflow.LineResult:
		b, err := body[resultLine](l)
		if err != nil {
			return err
		}
		s.result(b)
	case workflow.LineUsage:
		b, err := body[usageLine](l)
		if err != nil {
			return err
		}
		s.prompt = llm.Prompt{Bytes: b.Bytes, Tokens: b.Input + b.CacheRead + b.CacheWrite}
		s.unasked = false
	}
	return nil
}

func body[T any](l workflow.Line) (T, error) {
	var b T
	if err := json.Unmarshal(l.Body, &b); err != nil {
		return b, fmt.Errorf("read line %d of a run: %w", l.Seq, err)
	}
	return b, nil
}

// answer adds an answer of the model. An empty answer is not sent back, because servers reject an
// empty message. An answer is unusable if it is neither complete nor contains a call that can be
// made.
func (s *state) answer(b assistantLine) {
	s.turns = s.request()
	s.last, s.open, s.results = &b, slices.Clone(b.Calls), map[int]resultLine{}
	s.empty++
	if len(b.Calls) == 0 && b.Stop == string(llm.End) && b.Text != "" ||
		slices.ContainsFunc(b.Calls, func(c call) bool { return c.Broken == "" }) {
		s.empty = 0
	}
	if b.Text != "" || len(b.Calls) > 0 {
		s.turns = append(s.turns, llm.Turn{Model: json.RawMessage(b.Raw)})
	}
	for _, c := range b.Calls {
		s.keys = append(s.keys, c.Tool+" "+string(c.Arguments))
	}
}

// repeated returns how many equal calls in a row there are up to call n of the last answer.
func (s *state) repeated(n int) int {
	last := len(s.keys) - len(s.last.Calls) + n
	count := 0
	for i := last; i >= 0 && s.keys[i] == s.keys[last]; i-- {
		count++
	}
	return count
}

// result adds the result of a call. A later result of the same call replaces it.
func (s *state) result(b resultLine) {
	s.open = slices.DeleteFunc(s.open, func(c call) bool { return c.N == b.N })
	if s.results == nil {
		return
	}
	s.results[b.N] = b
	s.given = append(s.given, b.Content)
}

// request returns the conversation so far.
func (s *state) request() (turns []llm.Turn) {
	turns = slices.Clone(s.turns)
	if s.last == nil || len(s.last.Calls) == 0 {
		return turns
	}
	results := make([]llm.Result, len(s.last.Calls))
	for i, c := range s.last.Calls {
		b := s.results[c.N]
		results[i] = llm.Result{Call: c.ID, Content: b.Content, IsError: b.IsError}
	}
	return append(turns, llm.Turn{Results: results})
}

// received returns an answer in the form in which it is stored. A call is marked as broken if the
// database could not store its arguments.
func received(turn int, name string, reply llm.Reply) assistantLine {
	out := assistantLine{
		Turn: turn, Text: text.Prose(reply.Text, maxText).Plain(), Stop: string(reply.Stop), Model: name,
		Raw: string(reply.Raw), Calls: []call{}, Untrusted: true,
	}
	for i, c := range reply.Calls {
		k := call{
			ID: strings.ReplaceAll(c.ID, "\x00", ""), N: i, Tool: text.Line(c.Tool, 100).Plain(),
			Arguments: json.RawMessage(`{}`), Broken: c.Broken,
		}
		if reply.Stop == llm.Cut || reply.Stop == llm.Refused {
			k.Broken = "your answer was cut off, so nothing was done; make smaller calls"
		}
		if k.Broken == "" {
			k.Arguments, k.Broken = storable(c.Arguments)
		}
		out.Calls = append(out.Calls, k)
	}
	return out
}

const (
	maxText   = 1_000_000 // characters of an answer that are shown
	maxDigits = 40        // of a number in arguments
)

// storable returns arguments in a form that can be stored, or the reason why they cannot be used.
func storable(raw json.RawMessage) (json.RawMessage, string) {
	args, err := op.ParseObject(raw)
	if err != nil {
		return json.RawMessage(`{}`), "the arguments are not a valid JSON object; send them again as one"
	}
	if !sane(args) {
		return json.RawMessage(`{}`), "the arguments have a character or a number that cannot be stored; leave it out"
	}
	b, err := json.Marshal(args)
	if err != nil {
		return json.RawMessage(`{}`), "the arguments cannot be stored; send them again as one JSON object"
	}
	return b, ""
}

// sane reports whether the database can store a value. It cannot store NUL, or numbers of any
// length.
func sane(v any) bool {
	switch v := v.(type) {
	case string:
		return !strings.Contains(v, "\x00")
	case json.Number:
		return len(v) <= maxDigits && !strings.ContainsAny(string(v), "eE")
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !sane(e) })
	case map[string]any:
		for k, e := range v {
			if strings.Contains(k, "\x00") || !sane(e) {
				return false
			}
		}
	}
	return true
}
