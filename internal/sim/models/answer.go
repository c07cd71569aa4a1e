package models

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Script is a model: it is called for each request that the server accepts.
type Script func(Request) Answer

// An Answer is a model's answer.
type Answer struct {
	Text  string
	Calls []Call
	// Thinking adds a block with a signature, or extra_content on each call, that must be sent back
	// unchanged.
	Thinking bool
	// Stop replaces the reason that the server gives: a word of its format.
	Stop string
	// Usage replaces the server's count.
	Usage *Usage
	// Filler adds that many bytes of text, for responses that are too large.
	Filler int
	// Fault is a problem of this answer.
	Fault *Fault

	cut bool
}

// A Usage is the server's count of tokens.
type Usage struct {
	Input, CacheRead, CacheWrite, Output int64
	Missing                              bool // the server reports no usage
}

// Say returns an answer of text alone.
func Say(text string) Answer { return Answer{Text: text} }

// Use returns an answer that calls one tool. arguments can be any value that prints as JSON.
func Use(tool string, arguments any) Answer { return Answer{}.Use(tool, arguments) }

// Use adds a call.
func (a Answer) Use(tool string, arguments any) Answer {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // a script is code
	}
	a.Calls = append(slices.Clip(a.Calls), Call{Tool: tool, Arguments: string(b)})
	return a
}

// Cut cuts off the arguments of the last call after n bytes, as a limit of tokens does. A reason of
// its own, such as Ollama's tool_calls, hides that limit.
func (a Answer) Cut(n int, stop string) Answer {
	a.Calls = append([]Call(nil), a.Calls...)
	last := &a.Calls[len(a.Calls)-1]
	last.Arguments = last.Arguments[:min(n, len(last.Arguments))]
	a.Stop, a.cut = stop, true
	return a
}

// With adds a fault.
func (a Answer) With(f Fault) Answer {
	a.Fault = &f
	return a
}

// Counted sets the usage.
func (a Answer) Counted(u Usage) Answer {
	a.Usage = &u
	return a
}

// Sequence is a model that returns these answers one after another, regardless of the request. It
// repeats the last one.
func Sequence(answers ...Answer) Script {
	var mu sync.Mutex
	next := 0
	return func(Request) Answer {
		mu.Lock()
		defer mu.Unlock()
		a := answers[min(next, len(answers)-1)]
		next++
		return a
	}
}

const bytesPerToken = 4

// tokens returns how many tokens the server counts in n bytes.
func tokens(n int) int64 { return int64((n + bytesPerToken - 1) / bytesPerToken) }

// limit cuts off an answer at the request's limit of tokens, as an honest server does.
func (a Answer) limit(limit int) Answer {
	left := limit * bytesPerToken
	if limit <= 0 || a.size() <= left {
		return a
	}
	a.cut = true
	if len(a.Text) > left {
		a.Text, a.Calls, a.Filler = a.Text[:left], nil, 0
		return a
	}
	left -= len(a.Text)
	for i, c := range a.Calls {
		if len(c.Arguments) > left {
			a.Calls = append([]Call(nil), a.Calls[:i+1]...)
			a.Calls[i].Arguments = c.Arguments[:left]
			return a
		}
		left -= len(c.Arguments)
	}
	a.Filler = left
	return a
}

func (a Answer) size() int {
	n := len(a.Text) + a.Filler
	for _, c := range a.Calls {
		n += len(c.Arguments)
	}
	return n
}

// usage returns the usage that the server reports.
func (a Answer) usage(r Request) Usage {
	if a.Usage != nil {
		return *a.Usage
	}
	return Usage{Input: r.PromptTokens, Output: tokens(a.size()) + 1}
}

// stop returns the server's reason for the end, in the words of its format.
func (a Answer) stop(end, calls, cut string) string {
	switch {
	case a.Stop != "":
		return a.Stop
	case a.cut:
		return cut
	case len(a.Calls) > 0:
		return calls
	}
	return end
}

// pieces splits a text into the pieces of a stream.
func pieces(s string, size int) []string {
	var out []string
	for len(s) > size {
		n := size
		for n > 1 && !utf8.RuneStart(s[n]) { // split between characters
			n--
		}
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

// filler writes that many bytes of text, in pieces.
func filler(n int, write func(string) bool) {
	const line = "All work and no play makes a model a dull server. "
	block := strings.Repeat(line, 1000)
	for n > 0 && write(block[:min(n, len(block))]) {
		n -= len(block)
	}
}
