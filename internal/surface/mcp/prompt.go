package mcp

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Prompt is a task that a person starts by its name in a client.
type Prompt struct {
	Name, Title, About string
	Argument           string // the name of its argument, which may be omitted; "" for none
	Hint               string // what the argument means
	// Text returns the prompt for the model. For a reader it does not mention tools that write.
	Text func(reader bool, argument string) (string, error)
}

// Pages are texts that a client can read as resources. A tool returns the same texts.
type Pages struct {
	Tool     string // its only argument selects the page
	Argument string
	Base     string      // the URI of each page without its name
	Kinds    [][2]string // the name of each page, and its subject
}

// offer adds the prompts and pages to a server.
func (t *Tools) offer(s *mcp.Server, scope op.Scope, who principal) {
	for _, p := range t.Prompts {
		described := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.About}
		if p.Argument != "" {
			described.Arguments = []*mcp.PromptArgument{{Name: p.Argument, Description: p.Hint}}
		}
		s.AddPrompt(described, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text, err := p.Text(scope < op.Full, req.Params.Arguments[p.Argument])
			if err != nil {
				return nil, spoken(err)
			}
			return &mcp.GetPromptResult{Description: p.About, Messages: []*mcp.PromptMessage{{
				Role: "user", Content: &mcp.TextContent{Text: text},
			}}}, nil
		})
	}
	source := t.op(t.Pages.Tool)
	if source == nil {
		return
	}
	read := func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		kind, ok := strings.CutPrefix(req.Params.URI, t.Pages.Base)
		if !ok || !slices.ContainsFunc(t.Pages.Kinds, func(k [2]string) bool { return k[0] == kind }) {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		actor, err := who(ctx, req)
		if err != nil {
			return nil, spoken(err)
		}
		actor.Type = op.Agent
		answer, err := t.Runner.Call(ctx, source, op.Call{
			Actor: actor, Surface: op.Tool, Args: map[string]any{t.Pages.Argument: kind}, RequestID: id.Base62(16),
		})
		if err != nil {
			return nil, spoken(err)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
			URI: req.Params.URI, MIMEType: source.TextOut, Text: string(answer.Body),
		}}}, nil
	}
	for _, k := range t.Pages.Kinds {
		s.AddResource(&mcp.Resource{
			URI: t.Pages.Base + k[0], Name: k[0], Description: k[1], MIMEType: source.TextOut,
		}, read)
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: t.Pages.Base + "{" + t.Pages.Argument + "}", Name: "reference",
		Description: "Guides for working with this household's finances", MIMEType: source.TextOut,
	}, read)
}

// spoken returns an error in the form in which the protocol passes it on.
func spoken(err error) error {
	e := errs.Public(err, id.Base62(16))
	code := int64(jsonrpc.CodeInvalidParams)
	if e.Code == errs.InternalError {
		code = jsonrpc.CodeInternalError
	}
	return &jsonrpc.Error{Code: code, Message: e.Message}
}

var toolForm = regexp.MustCompile(`[a-z]+(_[a-z]+)+`)

// suits reports whether a client with the set has all tools that a prompt mentions.
func (t *Tools) suits(name string, scope op.Scope, set Set) bool {
	i := slices.IndexFunc(t.Prompts, func(p Prompt) bool { return p.Name == name })
	if i < 0 || set.only == nil {
		return true
	}
	text, err := t.Prompts[i].Text(scope < op.Full, "")
	return err == nil && !slices.ContainsFunc(toolForm.FindAllString(text, -1), func(word string) bool {
		return t.op(word) != nil && !slices.Contains(set.only, word)
	})
}
