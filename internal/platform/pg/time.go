package pg

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

const wireTime = "2006-01-02T15:04:05.000000Z"

// A Time is a timestamp in the format of the API: RFC 3339, UTC, always with six digits of
// fraction, so that text order is time order.
type Time struct{ t time.Time }

// At returns the Time of t, truncated to microseconds as PostgreSQL stores it.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Microsecond)} }

// Time returns the instant.
func (t Time) Time() time.Time { return t.t }

// String returns the API's format.
func (t Time) String() string { return t.t.UTC().Format(wireTime) }

// Append appends the API's format to b.
func (t Time) Append(b []byte) []byte {
	u := t.t.UTC()
	year, month, day := u.Date()
	if year < 0 || year > 9999 {
		return u.AppendFormat(b, wireTime)
	}
	hour, minute, second := u.Clock()
	b = append(appendDay(b, year, month, day), 'T')
	b = append(appendTwo(b, hour), ':')
	b = append(appendTwo(b, minute), ':')
	b = append(appendTwo(b, second), '.')
	micro := u.Nanosecond() / 1000
	return append(appendTwo(appendTwo(appendTwo(b, micro/10000), micro/100%100), micro%100), 'Z')
}

// IsZero reports whether the time is unset.
func (t Time) IsZero() bool { return t.t.IsZero() }

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return t.Append(nil), nil }

// UnmarshalText reads any RFC 3339 instant.
func (t *Time) UnmarshalText(b []byte) error {
	v, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return errors.New("not an RFC 3339 timestamp")
	}
	*t = At(v)
	return nil
}

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (t *Time) ScanTimestamptz(v pgtype.Timestamptz) error {
	if !v.Valid || v.InfinityModifier != pgtype.Finite {
		return errors.New("pg: infinite or NULL where a timestamp is required")
	}
	*t = Time{v.Time.UTC()}
	return nil
}

// TimestamptzValue implements pgtype.TimestamptzValuer.
func (t Time) TimestamptzValue() (pgtype.Timestamptz, error) {
	return pgtype.Timestamptz{Time: t.t, Valid: true}, nil
}
