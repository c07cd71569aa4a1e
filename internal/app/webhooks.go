package app

import (
	"coffer/internal/bank/all"
	"coffer/internal/connections/webhook"
	"coffer/internal/platform/op"
	"coffer/internal/surface/rest"
)

// deliveries returns the routes to which providers send their webhooks. The signature identifies
// the provider, so no key is needed. These routes are not part of the API, and the API document
// leaves them out.
func (a *App) deliveries() []rest.Raw {
	var routes []rest.Raw
	for _, s := range all.Specs {
		if s.Webhooks() {
			routes = append(routes, rest.Raw{
				Route: "POST /webhooks/" + s.Name, Scope: op.Open, MaxBody: webhook.MaxBody,
				Serve: a.Hooks.Receive(s.Name),
			})
		}
	}
	return routes
}
