package app

import (
	"coffer/internal/op"
	"coffer/internal/rest"
	"coffer/internal/webhook"
)

// deliveries are where providers send their webhooks. Who calls is told by the signature, so nobody needs a key; they are no part of the API, so the document leaves them out.
func (a *App) deliveries() []rest.Raw {
	routes := make([]rest.Raw, len(webhook.Providers))
	for i, p := range webhook.Providers {
		routes[i] = rest.Raw{Route: "POST /webhooks/" + p, Scope: op.Open, MaxBody: webhook.MaxBody, Serve: a.Hooks.Receive(p)}
	}
	return routes
}
