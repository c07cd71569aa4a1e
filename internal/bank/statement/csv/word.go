package csv

import (
	"slices"
	"strings"
	"unicode"

	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// A role is a field of a mapping, with the words in a header that identify it, the surest words
// first.
type role struct {
	slot  string
	words []string
	parts []string // words that identify it even within a longer name
}

// roles are the words of headers in the languages of the known formats. A column gets the first
// role that fits, in this order.
var roles = []role{
	{"debit", list("debit|debit amount|outflow|outflows|debits|withdrawal|withdrawals|withdrawal amount|withdrawal " +
		"amt|paid out|money out|amount debit|out|soll|belastung|lastschrift|débit|debit " +
		"eur|debito|cargo|cargos|uitgaven|debet|saída|uttag|uscite|addebiti"), nil},
	{"credit", list("credit|credit amount|inflow|inflows|credits|deposit|deposits|deposit amount|deposit amt|paid " +
		"in|money in|amount " +
		"credit|in|haben|gutschrift|crédit|credito|abono|abonos|ingreso|" +
		"ingresos|inkomsten|entrada|insättning|entrate|accrediti"), nil},
	{"balance", list("balance|running bal.|running balance|running bal|closing balance|account balance|balance " +
		"after|available balance|saldo|saldo nach buchung|kontostand|solde|saldo na mutatie|saldo na trn|bokfört " +
		"saldo|runningbalance"), list("balance|saldo|solde")},
	{"date", list("transaction date|trans. date|trans date|date of transaction|booking " +
		"date|buchungstag|buchungsdatum|buchung|date|posting date|posted date|post date|date " +
		"posted|datum|fecha|fecha operación|fecha de operación|data|date opération|date operation|date de " +
		"l'opération|dateop|transaktionsdatum|bokföringsdag|data operacji|started date|created " +
		"on|datetime|date time|timestamp|value date|valuta|valutadatum|wertstellung|completed date|run " +
		"date|time"), list("date|datum|fecha|buchungstag")},
	{
		"amount", list("amount|transaction " +
			"amount|betrag|montant|importe|bedrag|belopp|kwota|importo|valor|umsatz|amount in account currency|net " +
			"amount|net|gross|total|sum|value|cad$|usd$|monto|beløb"),
		list("amount|betrag|montant|importe|bedrag|belopp"),
	},
	{"flag", list("debit/credit|credit/debit|cr/dr|dr/cr|dr|d/c|c/d|af bij|direction|soll/haben|s/h|debit or " +
		"credit|credit debit indicator|indicator|sign|sens|transaction type|type|details|art"), nil},
	{"currency", list("currency|währung|waehrung|devise|moneda|divisa|munt|valuta|currency " +
		"code|waluta|ccy|transaction currency"), nil},
	{"id", list("transaction id|transactionid|reference number|id|transaction number|transaction reference|unique " +
		"id|fitid|transaktions-nr.|reference no.|txn id|transferwise id"), nil},
	{"merchant_name", list("merchant|merchant name|händler|commerçant|comercio"), nil},
	{"name", list("payee|payee name|counter party|counterparty|partner " +
		"name|name|beneficiary|empfänger|auftraggeber/empfänger|beguenstigter/zahlungspflichtiger|" +
		"begünstigter/zahlungspflichtiger|begünstigter / auftraggeber|empfänger/zahlungspflichtiger|" +
		"auftraggeber/zahlungsempfänger|zahlungsempfänger|name zahlungsbeteiligter|naam|" +
		"naam tegenpartij|description|transaction description|narration|narrative|particulars|" +
		"transaction details|details|label|libellé|libelle|concepto|descripción|descripcion|" +
		"omschrijving|naam / omschrijving|beskrivning|opis operacji|descrizione|descrição|buchungstext|" +
		"text|transaction|verwendungszweck|memo|original description"), list("description|beschreibung|narrative")},
	{"detail", list("memo|verwendungszweck|vorgang/verwendungszweck|payment reference|reference|original " +
		"description|description|notes|note|extended " +
		"details|omschrijving|mededelingen|buchungstext|purpose|communication|motivo|referencia|title|tytuł"), nil},
	{"category", list("category|kategorie|catégorie|categoría|categoria|spending " +
		"category|subcategory|rubriek|kategoria"), nil},
	{"account", list("account|account number|account name|account #|card no.|card " +
		"number|konto|kontonummer|auftragskonto|iban " +
		"auftragskonto|compte|cuenta|rekening|kontonummer/iban|accountnum|rachunek"), nil},
	{"status", list("status|state|info|transaction status|estado|statut"), nil},
}

func list(s string) []string { return strings.Split(s, "|") }

// norm normalizes a header's name for comparisons: without quotes and a leading #, with single
// spaces, folded.
func norm(name string) string {
	if name == "" {
		return ""
	}
	s := text.Fold(text.Line(name, 120).Plain())
	return strings.TrimSpace(strings.Trim(strings.TrimSpace(s), `#"'*:`))
}

// bare returns a normalized name without the part in brackets: "amount (usd)" becomes "amount".
func bare(name string) string {
	if i := strings.IndexAny(name, "(["); i > 0 {
		return strings.TrimSpace(name[:i])
	}
	return name
}

// fits returns how well a normalized name fits a role: a lower rank is surer.
func (r role) fits(name string) (rank int, ok bool) {
	if name == "" {
		return 0, false
	}
	short := bare(name)
	for i, w := range r.words {
		if w == name || w == short {
			return i, true
		}
	}
	for i, w := range r.parts {
		if strings.Contains(name, w) {
			return len(r.words) + i, true
		}
	}
	return 0, false
}

// isHeader reports whether names include at least a date and an amount.
func isHeader(fields []string) bool {
	if slices.ContainsFunc(fields, isValue) {
		return false
	}
	found := map[string]bool{}
	for _, f := range fields {
		name := norm(f)
		for _, r := range roles {
			if _, ok := r.fits(name); ok && !found[r.slot] {
				found[r.slot] = true
				break
			}
		}
	}
	return found["date"] && (found["amount"] || found["debit"] || found["credit"])
}

// headerCurrency returns the currency in a header: "Amount (USD)", "Betrag (€)", "CAD$".
func headerCurrency(name string) money.Currency {
	s := text.Line(name, 120).Plain()
	if i, j := strings.IndexAny(s, "(["), strings.LastIndexAny(s, ")]"); i >= 0 && j > i {
		s = s[i+1 : j]
	}
	for _, word := range strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.Is(unicode.Sc, r) || r == '$'
	}) {
		for _, r := range word {
			if c := reading.Symbols[r]; c != "" {
				return c
			}
		}
		if c, err := money.ParseCurrency(word); err == nil && word != "IBAN" && word != "BIC" {
			return c
		}
	}
	return ""
}

const (
	unknown = reading.Unknown
	out     = reading.Out
	in      = reading.In
)

// directions are the words in a column that mark the direction of money.
var directions = map[string]reading.Direction{
	"debit": out, "dr": out, "d": out, "db": out, "dbit": out, "af": out, "soll": out, "s": out, "out": out,
	"debet": out, "withdrawal": out, "-": out, "debit card": out, "expense": out, "débit": out, "cargo": out,
	"uit": out, "ausgang": out,
	"credit": in, "cr": in, "c": in, "crdt": in, "bij": in, "haben": in, "h": in, "in": in, "deposit": in, "+": in,
	"income": in, "crédit": in, "abono": in, "eingang": in,
	"neutral": unknown,
}

// balanceWords begin the text of lines that state a balance in the column of amounts.
var balanceWords = list("beginning balance|opening balance|starting balance|previous balance|closing balance|ending " +
	"balance|balance brought forward|balance carried forward|brought forward|carried " +
	"forward|anfangssaldo|endsaldo|alter saldo|neuer saldo|alter kontostand|neuer kontostand|kontostand|saldo " +
	"inicial|saldo final|saldo anterior|solde initial|initial balance|solde final|ancien solde|nouveau " +
	"solde|beginsaldo|eindsaldo|transactions total")

// statesBalance reports whether a cell is the text of such a line.
func statesBalance(cell string) bool {
	cell = reading.Trim(cell)
	if len(cell) < 8 || len(cell) > 80 {
		return false
	}
	return slices.ContainsFunc(balanceWords, func(w string) bool {
		return len(cell) >= len(w) &&
			strings.EqualFold(cell[:len(w)], w)
	})
}

// totalWords begin the text of lines with totals.
var totalWords = list("total|subtotal|sub-total|grand " +
	"total|sum|summe|gesamt|zwischensumme|totaal|totale|totaux|suma|somme|razem|summa")

// statesTotal reports whether a cell is the text of such a line.
func statesTotal(cell string) bool {
	n := norm(cell)
	return slices.ContainsFunc(totalWords, func(w string) bool {
		rest, ok := strings.CutPrefix(n, w)
		return ok && (rest == "" || rest[0] == ' ' || rest[0] == ':')
	})
}

// pendingWords mark charges that are not booked yet. They appear again in a later file, often with
// another amount or text.
var pendingWords = map[string]bool{
	"pending": true, "vorgemerkt": true, "umsatz vorgemerkt": true, "authorised": true, "authorized": true,
	"processing": true, "en attente": true, "pendiente": true, "reserved": true, "in bearbeitung": true,
}

// deadWords mark rows that never moved money.
var deadWords = map[string]bool{
	"reverted": true, "declined": true, "failed": true, "cancelled": true, "canceled": true, "denied": true,
	"expired": true, "voided": true, "rejected": true, "abgelehnt": true, "storniert": true, "removed": true,
}

// outWords and inWords in the text of a row indicate the sign convention if nothing surer does.
var (
	outWords = list("purchase|sale|pos |debit card|withdrawal|atm " +
		"|fee|grocer|supermarket|coffee|restaurant|kartenzahlung|lastschrift|achat|paiement " +
		"carte|compra|pago|betaalautomaat|rent|insurance|netflix|spotify|amazon|uber|fuel|pharmacy|bakery|market")
	inWords = list("payroll|salary|deposit|refund|thank you|autopay|payment received|payments and credits|direct " +
		"dep|gehalt|lohn|gutschrift|salaire|virement recu|nómina|nomina|cashback|interest earned|interest " +
		"paid|dividend|reimburse|return")
)

// saysDirection guesses the direction of a row from its words.
func saysDirection(s string) reading.Direction {
	s = text.Fold(s)
	for _, w := range inWords {
		if strings.Contains(s, w) {
			return in
		}
	}
	for _, w := range outWords {
		if strings.Contains(s, w) {
			return out
		}
	}
	return unknown
}
