package plaid

import (
	_ "embed"

	"coffer/internal/bank"
)

//go:embed widget.js
var widgetJS string

// Spec is Plaid as coffer lists it.
var Spec = bank.Spec{
	Name: name, Title: title, Given: "{public_token}", Script: widgetJS, Kind: (*Plaid)(nil),
	Fields: []bank.Field{
		{Name: "client_id", Required: true, Doc: "client ID, from the dashboard", Example: "5f1"},
		{Name: "secret", Required: true, Doc: "secret of that environment, from the dashboard", Example: "9a7"},
		{Name: bank.Environment, Values: []string{"sandbox", "production"}, Doc: "Plaid environment"},
		{Name: "url", Local: true, Doc: "URL of a simulator instead of Plaid"},
	},
	New: func(v bank.Values) (bank.Provider, error) {
		return New(Config{
			Environment: v[bank.Environment], BaseURL: v["url"], ClientID: v["client_id"], Secret: v["secret"],
		})
	},
}
