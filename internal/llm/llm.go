// Package llm is the contract with model servers: requests, replies, costs, and how a server fails.
// It must not know what an agent does with a reply, nor distinguish servers: each wire format has
// its own directory below.
//
// A reply is either complete or an error. A tool call that was cut off, or whose arguments are not
// a JSON object, is returned with the reason in [Call.Broken] and must not be run.
package llm

import (
	"bytes"
	"context"
	"encoding/json"
)

// A Client sends requests to one model server. It is safe for concurrent use and stores no
// conversation: every request contains the whole conversation.
type Client interface {
	// Ask sends one request and returns one complete reply. Its errors are [*Error], or the
	// context's.
	Ask(ctx context.Context, r Request) (Reply, error)
}

// A Request is one question with the whole conversation before it. It contains no sampling
// parameters, no forced tool and no thinking option, because some models reject each of these, and
// every model accepts a request without them.
type Request struct {
	Model     string
	System    string
	Tools     []Tool
	Turns     []Turn
	MaxTokens int  // the maximum length of the reply; servers bill no more than that
	Once      bool // do not retry after a failure, because somebody is waiting
}

// A Tool is something that the model may call.
type Tool struct {
	Name        string // letters, digits, _ and -, at most 64
	Description string
	Schema      json.RawMessage // of the arguments, an object
}

// requires reports whether the schema of the named tool requires an argument.
func requires(tools []Tool, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			var s struct {
				Required []string `json:"required"`
			}
			return json.Unmarshal(t.Schema, &s) == nil && len(s.Required) > 0
		}
	}
	return false
}

// A Turn is one step of a conversation. Exactly one of its fields is set.
type Turn struct {
	User    string          // the user's text
	Model   json.RawMessage // the model's message: [Reply.Raw], unchanged
	Results []Result        // the results of its calls: one for each, in order
}

// A Result is the result of one call.
type Result struct {
	Call    string // the call's id
	Content string
	IsError bool
}

// A Reply is a complete answer of the model.
type Reply struct {
	Text      string
	Calls     []Call
	Stop      Stop
	Raw       json.RawMessage // the model's message, to be sent back unchanged as a [Turn]
	Usage     Usage
	RequestID string // the id that the server's support asks for; "" if unknown
	Retries   int
	Notes     []string // remarks for a reader of the transcript, in our words
}

// A Call is a tool call that the model asks for.
type Call struct {
	ID        string
	Tool      string
	Arguments json.RawMessage // a JSON object; {} if Broken
	Broken    string          // why the call must not be run, in words for the model; "" if it may be run
}

// A Stop is the reason why a reply ended.
type Stop string

// The reasons.
const (
	End     Stop = "end"     // the model is done
	Calls   Stop = "calls"   // it waits for the results of its calls
	Cut     Stop = "cut"     // it reached a limit of tokens; none of its calls may be run
	Refused Stop = "refused" // it declines; the same request would be declined again
)

// The reasons of broken calls.
const (
	brokenCut   = "your response was cut off, so nothing was done; do less at a time"
	brokenEmpty = "the arguments are empty; send them as one JSON object"
	brokenJSON  = "the arguments are not a JSON object; send them again as one valid JSON object"
)

// NewCall returns a call whose arguments came as text. If the tool has no required arguments, an
// empty text means {}. Otherwise the call is broken, because a server may have cut the arguments
// off.
func NewCall(id, tool, arguments string, tools []Tool) Call {
	c := Call{ID: id, Tool: tool, Arguments: json.RawMessage(`{}`)}
	b := bytes.TrimSpace([]byte(arguments))
	switch {
	case len(b) == 0 && requires(tools, tool):
		c.Broken = brokenEmpty
	case len(b) == 0:
	case b[0] != '{' || !json.Valid(b):
		c.Broken = brokenJSON
	default:
		c.Arguments = b
	}
	return c
}

// Settle finishes a reply: it decides why the reply ended, if its server does not say so, and marks
// every call of a reply that was cut off. A reply with exactly the maximum number of tokens counts
// as cut off, because some servers report a tool call as complete although the limit ended it.
func (r *Reply) Settle(maxTokens int) {
	if r.Usage.Known && maxTokens > 0 && r.Usage.Output == int64(maxTokens) {
		r.Stop = Cut
	}
	if r.Stop == End && len(r.Calls) > 0 || r.Stop == Calls && len(r.Calls) == 0 {
		r.Stop = End
		if len(r.Calls) > 0 {
			r.Stop = Calls
		}
	}
	if r.Stop == Cut || r.Stop == Refused {
		for i := range r.Calls {
			r.Calls[i].Broken, r.Calls[i].Arguments = brokenCut, json.RawMessage(`{}`)
		}
	}
}
