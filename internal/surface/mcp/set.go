package mcp

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// How a client chooses its tools: in the URL, or in a header that other servers use too.
const (
	toolsName   = "tools"
	schemasName = "schemas"
	toolsHeader = "X-MCP-Toolsets"
	setKey      = "set"
)

// A Set is a client's choice of the tools that its key may call.
type Set struct {
	only    []string // nil for all
	schemas bool     // include output schemas; most clients pass them to their model without benefit
}

// A choice finds the set of a request.
type choice func(mcp.Request) Set

// ParseSet reads "core", "all" or names of tools, separated by commas; "" means all.
func (t *Tools) ParseSet(value string) (Set, error) {
	var set Set
	for name := range strings.SplitSeq(value, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "all":
			return Set{}, nil
		case name == "core":
			set.only = append(set.only, t.core()...)
		case name == "":
		case t.op(name) != nil:
			set.only = append(set.only, name)
		default:
			return Set{}, errs.New(errs.ValidationError,
				"unknown tool or tool set; pass core, all, or a comma-separated list of tool names")
		}
	}
	return set, nil
}

// core returns the tools of the set "core".
func (t *Tools) core() []string {
	var names []string
	for _, o := range t.Ops {
		if o.Core {
			names = append(names, o.Tool)
		}
	}
	return names
}

// setOf reads the set of an HTTP request. The URL takes precedence over the header.
func (t *Tools) setOf(r *http.Request) (Set, error) {
	query := r.URL.Query()
	value := query.Get(toolsName)
	if value == "" {
		value = r.Header.Get(toolsHeader)
	}
	set, err := t.ParseSet(value)
	set.schemas = query.Get(schemasName) == "1"
	return set, err
}

// chosenByToken returns the set of this request. Within a session it may differ from that of the
// request that opened the session.
func chosenByToken(req mcp.Request) Set {
	if x := req.GetExtra(); x != nil && x.TokenInfo != nil {
		set, _ := x.TokenInfo.Extra[setKey].(Set)
		return set
	}
	return Set{}
}

// op returns the op of a tool, or nil.
func (t *Tools) op(tool string) *op.Op {
	for _, o := range t.Ops {
		if o.Tool != "" && o.Tool == tool {
			return o
		}
	}
	return nil
}

// within shows and runs only the tools of the client's set. It shows only prompts that need no
// other tools. A call of a tool that the key may not call, or that is not in the set, gets an
// explanation as its result, because a protocol error would not reach the model.
func (t *Tools) within(scope op.Scope, chosen choice) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			set := chosen(req)
			if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
				switch o := t.op(call.Params.Name); {
				case o == nil: // the SDK reports it, and a test may have added it
				case o.Scope > scope:
					return failure(errs.New(errs.InsufficientScope,
						"this key is read_only and this tool requires full_access; tell the user what you "+
							"would change and ask for a full_access key"))
				case set.only != nil && !slices.Contains(set.only, o.Tool):
					return failure(errs.New(errs.Forbidden,
						"this tool is not enabled for this client; the user can enable it with tools=all or "+
							"a list of names in the server URL"))
				}
			}
			if get, ok := req.(*mcp.GetPromptRequest); ok && get.Params != nil &&
				!t.suits(get.Params.Name, scope, set) {
				return nil, &jsonrpc.Error{
					Code: jsonrpc.CodeInvalidParams,
					Message: "this prompt needs tools that are not enabled for this client; the user can " +
						"enable them with tools=all in the server URL",
				}
			}
			res, err := next(ctx, method, req)
			if err != nil {
				return res, err
			}
			switch list := res.(type) {
			case *mcp.ListToolsResult:
				list.Tools = t.chosen(set, list.Tools)
			case *mcp.ListPromptsResult:
				list.Prompts = slices.DeleteFunc(slices.Clone(list.Prompts), func(p *mcp.Prompt) bool {
					return !t.suits(p.Name, scope, set)
				})
			}
			return res, nil
		}
	}
}

// chosen returns the tools of a set in the form that its client wants.
func (t *Tools) chosen(set Set, all []*mcp.Tool) []*mcp.Tool {
	some := []*mcp.Tool{}
	for _, tool := range all {
		if set.only != nil && t.op(tool.Name) != nil && !slices.Contains(set.only, tool.Name) {
			continue
		}
		if !set.schemas {
			tool = new(*tool)
			tool.OutputSchema = nil
		}
		some = append(some, tool)
	}
	return some
}
