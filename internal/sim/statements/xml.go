package statements

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"coffer/internal/platform/money"
)

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// nameLength is the maximum length of a name in OFX.
const nameLength = 32

// ofx writes OFX 1, which has no end tags after values, or OFX 2, which is XML.
func ofx(all []Statement, xml bool) string {
	var b strings.Builder
	value := func(tag, v string) {
		b.WriteString("<" + tag + ">" + escape(v))
		if xml {
			b.WriteString("</" + tag + ">")
		}
	}
	if xml {
		b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
			`<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>` + "\n<OFX>")
	} else {
		b.WriteString("OFXHEADER:100\r\nDATA:OFXSGML\r\nVERSION:102\r\nSECURITY:NONE\r\nENCODING:UTF-8\r\n" +
			"CHARSET:NONE\r\nCOMPRESSION:NONE\r\nOLDFILEUID:NONE\r\nNEWFILEUID:NONE\r\n\r\n<OFX>")
	}
	for _, s := range all {
		kind, from := "", "BANKACCTFROM"
		if s.Type == "credit" {
			kind, from = "CC", "CCACCTFROM"
		}
		fmt.Fprintf(&b, "<%sSTMTTRNRS><%sSTMTRS>", kind, kind)
		value("CURDEF", string(s.Currency))
		b.WriteString("<" + from + ">")
		if kind == "" {
			value("BANKID", "10010010")
		}
		value("ACCTID", s.Number)
		if kind == "" {
			value("ACCTTYPE", strings.ToUpper(s.Subtype))
		}
		b.WriteString("</" + from + "><BANKTRANLIST>")
		value("DTSTART", s.From.Format("20060102"))
		value("DTEND", s.To.Format("20060102"))
		for _, r := range s.Rows {
			b.WriteString("\n<STMTTRN>")
			value("TRNTYPE", "OTHER")
			value("DTPOSTED", r.Day.Format("20060102")+"120000[-5:EST]")
			value("TRNAMT", r.Amount.Neg().String())
			value("FITID", r.ID)
			memo := r.Detail
			switch {
			case utf8.RuneCountInString(r.Name) <= nameLength:
				value("NAME", r.Name)
			case memo == "":
				value("NAME", string([]rune(r.Name)[:nameLength]))
				memo = r.Name
			default:
				b.WriteString("<PAYEE>")
				value("NAME", r.Name)
				b.WriteString("</PAYEE>")
			}
			if memo != "" {
				value("MEMO", memo)
			}
			b.WriteString("</STMTTRN>")
		}
		b.WriteString("</BANKTRANLIST><LEDGERBAL>")
		value("BALAMT", s.Closing.String())
		value("DTASOF", s.To.Format("20060102"))
		fmt.Fprintf(&b, "</LEDGERBAL></%sSTMTRS></%sSTMTTRNRS>\n", kind, kind)
	}
	b.WriteString("</OFX>\n")
	return b.String()
}

// camt writes camt.053 in version 08.
func camt(all []Statement) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>`)
	for i, s := range all {
		id := "<Othr><Id>" + s.Number + "</Id></Othr>"
		if strings.HasPrefix(s.Number, "DE") {
			id = "<IBAN>" + s.Number + "</IBAN>"
		}
		fmt.Fprintf(&b, "<Stmt><Id>%d</Id><Acct><Id>%s</Id><Ccy>%s</Ccy></Acct>", i+1, id, s.Currency)
		b.WriteString(balance("OPBD", s.Opening, s.Currency, s.From))
		b.WriteString(balance("CLBD", s.Closing, s.Currency, s.To))
		for _, r := range s.Rows {
			party := "Dbtr"
			if !r.Amount.IsNeg() {
				party = "Cdtr"
			}
			day := r.Day.Format(time.DateOnly)
			fmt.Fprintf(&b, "\n<Ntry>%s<Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>%s</Dt></BookgDt>"+
				"<ValDt><Dt>%s</Dt></ValDt><AcctSvcrRef>%s</AcctSvcrRef>"+
				"<NtryDtls><TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs>"+
				"<RltdPties><%s><Pty><Nm>%s</Nm></Pty></%s></RltdPties>",
				unsigned(r.Amount.Neg(), s.Currency), day, day, r.ID, party, escape(r.Name), party)
			if r.Detail != "" {
				b.WriteString("<RmtInf>")
				for _, part := range cut(r.Detail, 140) {
					b.WriteString("<Ustrd>" + escape(part) + "</Ustrd>")
				}
				b.WriteString("</RmtInf>")
			}
			b.WriteString("</TxDtls></NtryDtls></Ntry>")
		}
		b.WriteString("</Stmt>\n")
	}
	b.WriteString("</BkToCstmrStmt></Document>\n")
	return b.String()
}

func unsigned(a money.Amount, c money.Currency) string {
	side := "CRDT"
	if a.IsNeg() {
		side = "DBIT"
	}
	return fmt.Sprintf(`<Amt Ccy="%s">%s</Amt><CdtDbtInd>%s</CdtDbtInd>`, c, abs(a), side)
}

func balance(code string, a money.Amount, c money.Currency, day time.Time) string {
	return fmt.Sprintf("<Bal><Tp><CdOrPrtry><Cd>%s</Cd></CdOrPrtry></Tp>%s<Dt><Dt>%s</Dt></Dt></Bal>", code,
		unsigned(a, c), day.Format(time.DateOnly))
}
