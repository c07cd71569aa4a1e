package analytics

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Calendar prints the expected payments as an iCalendar file (RFC 5545): whole days, each under the
// payee's name. Transfers between one's own accounts are left out. A payment has the same UID in
// every file, so that a calendar app never shows it twice.
func (u Upcoming) Calendar(amounts bool, now time.Time) string {
	var b strings.Builder
	line := func(name, value string) { fold(&b, name+":"+value) }
	line("BEGIN", "VCALENDAR")
	line("VERSION", "2.0")
	line("PRODID", "-//coffer//upcoming//EN")
	line("CALSCALE", "GREGORIAN")
	line("METHOD", "PUBLISH")
	line("NAME", "coffer")
	line("X-WR-CALNAME", "coffer")
	fold(&b, "REFRESH-INTERVAL;VALUE=DURATION:PT12H")
	fold(&b, "X-PUBLISHED-TTL:PT12H")
	stamp := now.UTC().Format("20060102T150405Z")
	for _, day := range u.Days {
		seen := map[string]int{}
		for _, item := range day.Items {
			if item.Transfer {
				continue
			}
			due := day.Date
			if item.Due != nil { // an overdue payment keeps the UID of its due day and is shown today
				due = *item.Due
			}
			uid := fmt.Sprintf("%s-%s", item.RecurringID, strings.ReplaceAll(due.String(), "-", ""))
			if seen[uid]++; seen[uid] > 1 {
				uid += fmt.Sprintf("-%d", seen[uid])
			}
			what := string(item.Name)
			if amounts {
				amount := item.Amount.String()
				if item.Amount.IsNeg() {
					amount = "+" + item.Amount.Neg().String()
				}
				if !item.Certain {
					amount = "~" + amount
				}
				what += " " + amount + " " + string(item.Currency)
			}
			line("BEGIN", "VEVENT")
			line("UID", uid+"@coffer")
			line("DTSTAMP", stamp)
			fold(&b, "DTSTART;VALUE=DATE:"+strings.ReplaceAll(day.Date.String(), "-", ""))
			fold(&b, "DTEND;VALUE=DATE:"+day.Date.Time().AddDate(0, 0, 1).Format("20060102"))
			line("SUMMARY", escaped(what))
			line("TRANSP", "TRANSPARENT") // nobody is busy because rent is due
			line("END", "VEVENT")
		}
	}
	line("END", "VCALENDAR")
	return b.String()
}

// escaped returns a text as the value of a line. A bank's text must not start a new line.
func escaped(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`).Replace(s)
}

// fold writes a line in pieces of at most 75 bytes and never splits a character.
func fold(b *strings.Builder, s string) {
	for limit := 75; len(s) > limit; limit = 74 { // a continued line begins with a blank
		at := limit
		for !utf8.RuneStart(s[at]) {
			at--
		}
		b.WriteString(s[:at] + "\r\n ")
		s = s[at:]
	}
	b.WriteString(s + "\r\n")
}
