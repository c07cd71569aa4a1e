package enablebanking

import "coffer/internal/bank"

// Spec is Enable Banking as coffer lists it.
var Spec = bank.Spec{
	Name: name, Title: title, Kind: bank.OpenBanking,
	Countries: []string{
		"AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GB", "GR", "HR", "HU", "IE", "IS", "IT",
		"LI", "LT", "LU", "LV", "MT", "NL", "NO", "PL", "PT", "RO", "SE", "SI", "SK",
	},
	Guide: "https://enablebanking.com/cp/applications",
	Given: "{code}", Type: (*EnableBanking)(nil),
	Link: bank.Link{Way: bank.ByRedirect, Institutions: true},
	Fields: []bank.Field{
		{
			Name: "application", Title: "Application ID", Required: true,
			Doc: "application ID, from the control panel", Example: "00000000-0000-4000-8000-000000000000",
		},
		{
			Name: "key", Title: "Private key", Required: true, PEM: true,
			Doc: "private key of the application: the PEM file that the control panel gave you",
		},
		{
			Name: "redirect_url", Title: "Redirect URL", MaxLen: 500,
			Doc: "redirect URL that is registered with the application, if it is not coffer's own address with " +
				"/link/return",
		},
		{Name: "url", Local: true, Doc: "URL of a simulator instead of Enable Banking"},
	},
	New: func(v bank.Values) (bank.Provider, error) {
		return New(Config{
			Application: v["application"], Key: []byte(v["key"]), Redirect: v["redirect_url"], BaseURL: v["url"],
		})
	},
}
