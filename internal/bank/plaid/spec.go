package plaid

import (
	_ "embed"

	"coffer/internal/bank"
)

//go:embed widget.js
var widgetJS string

// Spec is Plaid as coffer lists it.
var Spec = bank.Spec{
	Name: name, Title: title, Kind: bank.Aggregator, Countries: []string{"US"},
	Guide: "https://dashboard.plaid.com", Link: bank.Link{Way: bank.ByPage},
	Given: "{public_token}", Script: widgetJS, Type: (*Plaid)(nil),
	Fields: []bank.Field{
		{
			Name: "client_id", Title: "Client ID", Required: true, Doc: "client ID, from the dashboard",
			Example: "5f1",
		},
		{
			Name: "secret", Title: "Secret", Required: true, Doc: "secret of that environment, from the dashboard",
			Example: "9a7",
		},
		{
			Name: bank.Environment, Title: "Environment", Values: []string{"sandbox", "production"},
			Doc: "Plaid environment",
		},
		{Name: "url", Local: true, Doc: "URL of a simulator instead of Plaid"},
	},
	New: func(v bank.Values) (bank.Provider, error) {
		return New(Config{
			Environment: v[bank.Environment], BaseURL: v["url"], ClientID: v["client_id"], Secret: v["secret"],
		})
	},
}
