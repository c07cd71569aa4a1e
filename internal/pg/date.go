package pg

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// A Date is a day on the calendar, without a time zone: YYYY-MM-DD.
type Date struct{ t time.Time }

// Day is the Date of that instant in UTC.
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

// Time is the day's midnight in UTC.
func (d Date) Time() time.Time { return d.t }

// IsZero reports whether there is no day.
func (d Date) IsZero() bool { return d.t.IsZero() }

// String is YYYY-MM-DD.
func (d Date) String() string { return d.t.Format(time.DateOnly) }

// Append appends YYYY-MM-DD to b.
func (d Date) Append(b []byte) []byte { return d.t.AppendFormat(b, time.DateOnly) }

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
		return errors.New("pg: no finite date where one is required")
	}
	*d = Date{v.Time}
	return nil
}

// DateValue implements pgtype.DateValuer.
func (d Date) DateValue() (pgtype.Date, error) { return pgtype.Date{Time: d.t, Valid: true}, nil }
