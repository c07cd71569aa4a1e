package pg

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// A Date is a day on the calendar, without a time zone: YYYY-MM-DD.
type Date struct{ t time.Time }

// Day returns the Date of that instant in UTC.
func Day(t time.Time) Date {
	y, m, d := t.UTC().Date()
	return Date{time.Date(y, m, d, 0, 0, 0, 0, time.UTC)}
}

// ParseDate reads YYYY-MM-DD.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return Date{}, errors.New("not a date")
	}
	return Date{t}, nil
}

// Time returns the day's midnight in UTC.
func (d Date) Time() time.Time { return d.t }

// IsZero reports whether the date is unset.
func (d Date) IsZero() bool { return d.t.IsZero() }

// String returns YYYY-MM-DD.
func (d Date) String() string { return d.t.Format(time.DateOnly) }

// Append appends YYYY-MM-DD to b.
func (d Date) Append(b []byte) []byte {
	year, month, day := d.t.Date()
	if year < 0 || year > 9999 {
		return d.t.AppendFormat(b, time.DateOnly)
	}
	return appendDay(b, year, month, day)
}

// appendDay and appendTwo print the same as package time, but without parsing a layout, because
// lists print four dates per row.
func appendDay(b []byte, year int, month time.Month, day int) []byte {
	b = append(appendTwo(appendTwo(b, year/100), year%100), '-')
	b = append(appendTwo(b, int(month)), '-')
	return appendTwo(b, day)
}

func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// MarshalText implements encoding.TextMarshaler.
func (d Date) MarshalText() ([]byte, error) { return d.Append(nil), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Date) UnmarshalText(b []byte) (err error) {
	*d, err = ParseDate(string(b))
	return err
}

// ScanDate implements pgtype.DateScanner.
func (d *Date) ScanDate(v pgtype.Date) error {
	if !v.Valid || v.InfinityModifier != pgtype.Finite {
		return errors.New("pg: infinite or NULL where a date is required")
	}
	*d = Date{v.Time}
	return nil
}

// DateValue implements pgtype.DateValuer.
func (d Date) DateValue() (pgtype.Date, error) { return pgtype.Date{Time: d.t, Valid: true}, nil }
