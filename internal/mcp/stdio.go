package mcp

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"coffer/internal/op"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio serves the tools on standard input and output until the input ends. The key is looked up for every call, so that a revocation ends it.
func (t *Tools) Stdio(ctx context.Context, key func(context.Context) (op.Actor, error)) error {
	actor, err := key(ctx)
	if err != nil {
		return err
	}
	who := func(ctx context.Context, _ *mcp.CallToolRequest) (op.Actor, error) { return key(ctx) }
	return t.server(actor.Scope, who).Run(ctx, &mcp.StdioTransport{})
}

// Bridge serves on standard input and output the tools of a running server elsewhere, with that server's own answers.
func Bridge(ctx context.Context, server, key, version string) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "coffer", Version: version}, nil)
	remote, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:   strings.TrimSuffix(server, "/") + "/mcp/key",
		HTTPClient: &http.Client{Transport: keyed{key}},
	}, nil)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", server, err)
	}
	defer remote.Close() //nolint:errcheck // the session ends either way
	local := mcp.NewServer(&mcp.Implementation{Name: "coffer", Title: "coffer", Version: version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for tool, err := range remote.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the tools of %s: %w", server, err)
		}
		local.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return remote.CallTool(ctx, &mcp.CallToolParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
		})
	}
	return local.Run(ctx, &mcp.StdioTransport{})
}

type keyed struct{ key string }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", k.key)
	return http.DefaultTransport.RoundTrip(r)
}
