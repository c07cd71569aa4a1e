package cli

import (
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

// figures formats decimal numbers for a person, with the decimal point and digit groups of a
// locale. Dates stay unchanged, because commands take them in that form.
type figures struct {
	printer *message.Printer
	point   string
}

// Locale returns the locale for numbers from a program's environment, or "" if none is set.
func Locale(getenv func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_NUMERIC", "LANG"} {
		if v := getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// figuresOf returns the number format of a locale such as de_DE.UTF-8. It returns nil for the C
// locale and for an unknown one.
func figuresOf(locale string) *figures {
	name, _, _ := strings.Cut(locale, ".")
	name, _, _ = strings.Cut(name, "@")
	if name == "" || name == "C" || name == "POSIX" {
		return nil
	}
	tag, err := language.Parse(strings.ReplaceAll(name, "_", "-"))
	if err != nil {
		return nil
	}
	p := message.NewPrinter(tag)
	return &figures{printer: p, point: strings.Trim(p.Sprint(number.Decimal(0.5)), "05")}
}

// figures returns the number format of the screen's locale.
func (s *Screen) figures() *figures {
	if s.numbers == nil && s.Locale != "" {
		s.numbers = figuresOf(s.Locale)
	}
	return s.numbers
}

// write formats a decimal number without changing any digit. Numbers without decimals are counts,
// years and ids, which stay unchanged.
func (f *figures) write(plain string) string {
	whole, decimals, ok := strings.Cut(plain, ".")
	if f == nil || !ok {
		return plain
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(whole, "-"), 10, 63)
	if err != nil {
		return plain
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign = "-"
	}
	return sign + f.printer.Sprint(number.Decimal(n)) + f.point + decimals
}
