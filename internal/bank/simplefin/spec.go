package simplefin

import "coffer/internal/bank"

// Spec is SimpleFIN as coffer lists it.
var Spec = bank.Spec{
	Name: name, Title: title, Kind: bank.Token, Countries: []string{"US", "CA"},
	Guide: "https://bridge.simplefin.org/simplefin/create",
	Given: "{" + fieldToken + "}", Type: (*SimpleFIN)(nil),
	Link: bank.Link{Way: bank.ByForm, Fields: []bank.Field{{
		Name: fieldToken, Title: "Setup token", Required: true, MaxLen: maxToken,
		Doc: "Create one at SimpleFIN Bridge, where you also sign in to your banks. It works once.",
	}}},
	Fields: []bank.Field{
		{
			Name: "url", Local: true,
			Doc: "address of your own server, or of a simulator, whose setup tokens are accepted too",
		},
	},
	New: func(v bank.Values) (bank.Provider, error) { return New(Config{Home: v["url"]}) },
}
