package app

import (
	"log/slog"

	"coffer/internal/agents/guide"
	"coffer/internal/surface/mcp"
)

// tools returns what assistants see: the ops that are tools, the prompts, and the reference pages.
func (a *App) tools(log *slog.Logger) *mcp.Tools {
	prompts := make([]mcp.Prompt, len(guide.Prompts))
	for i, p := range guide.Prompts {
		prompts[i] = mcp.Prompt{Name: p.Name, Title: p.Title, About: p.About, Text: p.Text}
		if p.Month {
			prompts[i].Argument, prompts[i].Hint = "month", "Such as 2026-06; the last whole month if omitted"
		}
	}
	return &mcp.Tools{
		Ops: a.Ops(), Runner: a.Runner, Version: Version, Log: log, Prompts: prompts,
		Pages: mcp.Pages{
			Tool: "get_reference", Argument: "kind", Base: "coffer://reference/", Kinds: guide.Kinds,
		},
	}
}
