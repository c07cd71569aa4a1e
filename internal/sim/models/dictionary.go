package models

import (
	"encoding/json"
	"fmt"
	"strings"
)

// words lists names of payees with the category that most households choose for them. The demo's
// model decides by this list, and leaves unlisted payees to people.
var words = []struct{ category, payees string }{
	{
		"food_and_drink_groceries", "lidl rewe edeka aldi netto penny kaufland biomarkt bio_company alnatura metro " +
			"mix_markt go_asia hofladen wochenmarkt bioladen metzgerei supermarket tesco carrefour " +
			"whole_foods trader_joe",
	},
	{"food_and_drink_cafes", "starbucks coffee kamps kaffee bäckerei café konditorei rösterei backhaus teestube"},
	{
		"food_and_drink_restaurants", "vapiano osteria hans_im_glück peter_pane dean&david block_house trattoria " +
			"gasthaus restaurant ristorante sushi bistro brauhaus",
	},
	{"food_and_drink_bars", "biergarten hopfenreich kneipe weinstube"},
	{
		"food_and_drink_takeaway", "mcdonald burger_king subway nordsee dunkin lieferando wolt döner imbiss falafel " +
			"uber_eats doordash",
	},
	{"transport_fuel", "aral shell esso jet_tankstelle total_tankstelle tankstelle chevron"},
	{"transport_public_transport", "bvg deutschlandticket deutsche_bahn db_vertrieb mta_subway"},
	{"transport_taxis", "uber_trip free_now bolt taxi lyft"},
	{"shopping_general_stores", "drogerie rossmann woolworth tedi"},
	{"shopping_clothing", "zalando uniqlo primark c&a"},
	{"shopping_electronics", "media_markt saturn conrad"},
	{"shopping_online_marketplaces", "amazon ebay etsy"},
	{"home_furniture_and_appliances", "ikea"},
	{"home_tools_and_materials", "obi_bau bauhaus hornbach"},
	{"home_rent", "miete wohnungsbau"},
	{"home_mortgage", "annuität mortgage"},
	{"utilities_energy", "stadtwerke strom"},
	{"utilities_water_and_waste", "wasserbetriebe"},
	{"utilities_internet_and_tv", "telekom_festnetz rundfunk comcast"},
	{"utilities_phone", "congstar vodafone t-mobile verizon"},
	{"entertainment_tv_and_film", "netflix disney prime kino"},
	{"entertainment_music_and_audio", "spotify"},
	{"entertainment_video_games", "playstation steam nintendo"},
	{"personal_care_gyms_and_fitness", "fitx mcfit"},
	{"health_pharmacy", "apotheke pharmacy walgreens cvs"},
	{"insurance_vehicle", "huk24 adac"},
	{"insurance_other", "allianz"},
	{"services_software", "github openai"},
	{"income_salary", "gehalt payroll weihnachtsgeld"},
	{"transfers_cash_withdrawals", "geldautomat atm"},
}

// guess returns the category of a payee, or "".
func guess(payee string) string {
	payee = strings.ToLower(payee)
	for _, w := range words {
		for word := range strings.FieldsSeq(w.payees) {
			if strings.Contains(payee, strings.ReplaceAll(word, "_", " ")) {
				return w.category
			}
		}
	}
	return ""
}

// Dictionary is a model that needs no account with a provider; the demo uses it. It decides sheets
// by earlier decisions of people and by a small dictionary. It returns the code of a test, and it
// ends every other conversation after one look at the books.
func Dictionary(r Request) Answer {
	if s, ok := r.Sheet(); ok {
		if t, _ := r.Tool("decide"); strings.Contains(string(t.Schema), `"counterparty"`) {
			return s.Decide(ByMerchant(s)...)
		}
		return s.Decide(ByDictionary(s)...)
	}
	if r.Turn() > 0 {
		return Say(summary(r.Results()))
	}
	for _, t := range r.Tools {
		if wants(t, "code") {
			return Use(t.Name, map[string]any{"code": r.Code()})
		}
	}
	for _, name := range []string{"get_overview", "transaction_summary", "query_transactions"} {
		if t, ok := r.Tool(name); ok && !requires(t) {
			return Use(name, map[string]any{})
		}
	}
	return Say("There is nothing that this model can do here.")
}

// ByDictionary decides the rows of a sheet.
func ByDictionary(s Sheet) []Decision {
	var out []Decision
	for _, row := range s.Rows {
		d := Decision{Row: row.Row, Note: "not in the dictionary"}
		if c := row.Precedent(); c != "" {
			d.Category, d.Note, d.Sure = c, "as people decided before", true
		} else if c := guess(row.Merchant + " " + row.Name); c != "" && s.Has(c) {
			d.Category, d.Note, d.Sure = c, "a payee in the dictionary", true
			if row.in() && !strings.HasPrefix(c, "income_") && !strings.HasPrefix(c, "transfers_") {
				d.Note, d.Sure = "money in from a payee that is usually paid", false
			}
		}
		out = append(out, d)
	}
	return out
}

// ByMerchant decides the counterparties of a sheet: the name that people gave the payee before,
// else the bank's name of the merchant.
func ByMerchant(s Sheet) []Decision {
	var out []Decision
	for _, row := range s.Rows {
		d := Decision{Row: row.Row, Note: "the bank names no merchant", Category: row.Category}
		if c := row.Precedent(); c != "" {
			d.Counterparty, d.Note, d.Sure = c, "as people named it before", true
		} else if row.Merchant != "" {
			d.Counterparty, d.Note, d.Sure = row.Merchant, "the bank's merchant", true
		}
		out = append(out, d)
	}
	return out
}

func summary(results []Result) string {
	for _, x := range results {
		if x.IsError {
			return "The books couldn't be read, so there is nothing to report."
		}
	}
	return fmt.Sprintf("A look at the books brought %d answers; a model with an account would say more about them.",
		len(results))
}

// schema is the part of a tool's schema that the dictionary uses.
type schema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

func wants(t Tool, property string) bool {
	var s schema
	return json.Unmarshal(t.Schema, &s) == nil && s.Properties[property] != nil
}

func requires(t Tool) bool {
	var s schema
	return json.Unmarshal(t.Schema, &s) != nil || len(s.Required) > 0
}
