package csv

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	"coffer/internal/bank/statement/reading"
)

// Limits of one record. A longer one is not from a bank's statement, or has a quote that is never
// closed.
const (
	maxCell    = 32 << 10
	maxRecord  = 256 << 10
	maxColumns = 256
)

// A record is one line of the table; a line break inside quotes does not end it. Blank lines are
// records without fields, because spreadsheets count them too.
type record struct {
	number int // from 1
	fields []string
	broken bool // it exceeded a limit
}

func (r record) blank() bool {
	return !slices.ContainsFunc(r.fields, func(f string) bool { return reading.Trim(f) != "" })
}

// at returns the cell of a column, or "" if the row is too short.
func (r record) at(c *Column) string {
	if c == nil || c.Index >= len(r.fields) {
		return ""
	}
	return r.fields[c.Index]
}

// A scanner splits text into records as in RFC 4180. It accepts common mistakes of banks: quotes
// inside a cell, blanks around quotes, and any line break. encoding/csv does not accept a lone CR,
// and skips blank lines, which makes the row numbers wrong.
type scanner struct {
	in     *bufio.Reader
	comma  byte
	number int
	buf    []byte
	ends   []int
	fields []string
	broken bool
}

func newScanner(r io.Reader, comma byte) *scanner {
	return &scanner{in: bufio.NewReaderSize(r, 64<<10), comma: comma}
}

// next returns the next record. Its fields slice is valid until the next call; the strings stay
// valid. After the last record it returns io.EOF.
func (s *scanner) next() (record, error) {
	s.buf, s.ends, s.broken = s.buf[:0], s.ends[:0], false
	c, err := s.in.ReadByte()
	if err != nil {
		return record{}, err
	}
	s.number++
	blank := c == '\n' || c == '\r'
	for {
		var last bool
		last, err = s.field(c)
		if err != nil {
			return record{}, err
		}
		if len(s.ends) < maxColumns {
			s.ends = append(s.ends, len(s.buf))
		} else {
			s.broken = true
		}
		if last {
			break
		}
		if c, err = s.in.ReadByte(); errors.Is(err, io.EOF) {
			break // after a delimiter
		} else if err != nil {
			return record{}, err
		}
	}
	if blank {
		return record{number: s.number}, nil
	}
	all, start := string(s.buf), 0
	s.fields = s.fields[:0]
	for _, end := range s.ends {
		s.fields = append(s.fields, all[start:end])
		start = end
	}
	return record{number: s.number, fields: s.fields, broken: s.broken}, nil
}

// field reads the rest of the field that begins with c and reports whether the record ends with it.
func (s *scanner) field(c byte) (last bool, err error) {
	start := len(s.buf)
	quoted := false
	for ; ; c, err = s.in.ReadByte() {
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return true, err
		case quoted && c == '"':
			quoted, err = s.quote(start)
			if err != nil {
				return true, err
			}
		case quoted && c == '\r':
			s.skipLF()
			s.add(start, '\n')
		case quoted && len(s.buf)-start >= maxCell:
			s.broken, quoted = true, false // continue the table at the next line
		case quoted:
			s.add(start, c)
		case c == s.comma:
			return false, nil
		case c == '\n':
			return true, nil
		case c == '\r':
			s.skipLF()
			return true, nil
		case c == '"' && len(bytes.TrimLeft(s.buf[start:], " ")) == 0:
			s.buf, quoted = s.buf[:start], true
		default:
			s.add(start, c)
		}
	}
}

func (s *scanner) add(start int, c byte) {
	if len(s.buf)-start >= maxCell || len(s.buf) >= maxRecord {
		s.broken = true
		return
	}
	s.buf = append(s.buf, c)
}

// quote decides what a quote inside a quoted field is: half of a doubled quote, the end of the
// field, or a character that should have been doubled.
func (s *scanner) quote(start int) (stillQuoted bool, err error) {
	for n := 1; ; n++ {
		ahead, err := s.in.Peek(n)
		if len(ahead) < n {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, err
		}
		switch c := ahead[n-1]; {
		case n == 1 && c == '"':
			_, _ = s.in.Discard(1)
			s.add(start, '"')
			return true, nil
		case c == s.comma, c == '\n', c == '\r':
			_, _ = s.in.Discard(n - 1)
			return false, nil
		case c == ' ' && n < 16:
			continue
		}
		s.add(start, '"')
		return true, nil
	}
}

func (s *scanner) skipLF() {
	if ahead, _ := s.in.Peek(1); len(ahead) == 1 && ahead[0] == '\n' {
		_, _ = s.in.Discard(1)
	}
}
