package teller

import (
	_ "embed"
	"strings"

	"coffer/internal/bank"
)

//go:embed widget.js
var widgetJS string

// Spec is Teller as coffer lists it.
var Spec = bank.Spec{
	Name: name, Title: title, Kind: bank.Aggregator, Countries: []string{"US"},
	Guide: "https://teller.io", Link: bank.Link{Way: bank.ByPage},
	Given: "{access_token, enrollment_id, …}", Script: widgetJS, Type: (*Teller)(nil),
	Fields: []bank.Field{
		{
			Name: "application_id", Title: "Application ID", Required: true,
			Doc: "application ID, from the dashboard", Example: "app_1",
		},
		{
			Name: bank.Environment, Title: "Environment", Values: []string{"sandbox", "development", "production"},
			Doc: "Teller environment",
		},
		{Name: "certificate", Title: "Certificate", PEM: true, Doc: "client certificate; required outside the sandbox"},
		{Name: "private_key", Title: "Private key", PEM: true, Doc: "private key of the client certificate"},
		{
			Name: "signing_key", Title: "Token signing key",
			Doc: "token signing key, from the dashboard; needed to verify results from Teller Connect",
		},
		{
			Name: "webhook_secrets", Title: "Webhook secrets", MaxLen: 1000,
			Doc: "secrets that sign webhooks, comma-separated",
		},
		{Name: "url", Local: true, Doc: "URL of a simulator instead of Teller"},
		{Name: "ca", PEM: true, Local: true, Doc: "CA certificate of the simulator"},
	},
	New: func(v bank.Values) (bank.Provider, error) {
		separator := func(r rune) bool { return r == ',' || r == ' ' }
		return New(Config{
			Environment: v[bank.Environment], BaseURL: v["url"], ApplicationID: v["application_id"],
			Certificate: []byte(v["certificate"]), Key: []byte(v["private_key"]), RootCA: []byte(v["ca"]),
			SigningKey: v["signing_key"], WebhookSecrets: strings.FieldsFunc(v["webhook_secrets"], separator),
		})
	},
}
