package qif

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"coffer/internal/bank/statement/reading"
)

// A record is the text between two lines with a ^.
type record struct {
	section string // in lower case, such as bank; "account" if the record names an account
	listed  bool   // the account is part of a list, and the following records do not belong to it
	fields  [256]string
	parts   []part
}

// A part is one part of a split transaction, as written.
type part struct{ category, memo, amount string }

const (
	maxParts   = 1000
	ctxRecords = 1000 // between two checks of the context
)

// account is the section that names accounts.
const account = "account"

// sections lists the sections with transactions that move money.
var sections = map[string]bool{"bank": true, "cash": true, "ccard": true, "oth a": true, "oth l": true, "invst": true}

// records yields the records of a file. A record is valid until the next one.
func records(ctx context.Context, file io.ReaderAt, encoding string) iter.Seq2[*record, error] {
	return func(yield func(*record, error) bool) {
		lines := reading.NewLines(reading.Open(file, encoding))
		r, list, filled := record{}, false, false
		for n := 0; ; n++ {
			line, err := lines.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil && n%ctxRecords == 0 {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			line = reading.Trim(line)
			switch {
			case line == "":
			case line[0] == '!':
				if filled && !yield(&r, nil) { // the last ^ may be missing
					return
				}
				r, filled = record{section: r.section}, false
				r.begin(strings.ToLower(line[1:]), &list)
			case line[0] == '^':
				if filled && !yield(&r, nil) {
					return
				}
				r, filled = record{section: r.section, listed: r.listed, parts: r.parts[:0]}, false
			default:
				r.take(line[0], reading.Trim(line[1:]))
				filled = true
			}
		}
		if filled {
			yield(&r, nil)
		}
	}
}

// begin handles a line with a !. Between Option:AutoSwitch and Clear:AutoSwitch, accounts are a
// list.
func (r *record) begin(line string, list *bool) {
	switch kind, name, _ := strings.Cut(line, ":"); {
	case kind == "option" && name == "autoswitch":
		*list = true
	case kind == "clear" && name == "autoswitch":
		*list = false
	case kind == account:
		r.section, r.listed = account, *list
	case kind == "type":
		r.section = strings.TrimSpace(name)
	}
}

func (r *record) take(letter byte, value string) {
	switch n := len(r.parts); {
	case letter == 'S' && n < maxParts:
		r.parts = append(r.parts, part{category: value})
	case letter == 'E' && n > 0 && r.section != account:
		r.parts[n-1].memo = value
	case letter == '$' && n > 0:
		r.parts[n-1].amount = value
	case r.fields[letter] == "":
		r.fields[letter] = value
	}
}

// amount returns the field T, or else U, which has more digits and replaces T in some files.
func (r *record) amount() string {
	if r.fields['T'] != "" {
		return r.fields['T']
	}
	return r.fields['U']
}
