package pg

import (
	"errors"
	"time"
)

// A Moment is a point in time as people enter it: an RFC 3339 timestamp or a date. A date stands
// for the start of that day in the household's time zone.
type Moment struct{ text string }

// MomentSQL converts one parameter, a Moment, to a timestamp.
const MomentSQL = `(select case when length(v.m) = 10 then v.m::date::timestamp at time zone s.time_zone
	else v.m::timestamptz end from (values ($?::text)) v (m), setting s)`

// ParseMoment reads a Moment.
func ParseMoment(s string) (Moment, error) {
	if _, err := ParseDate(s); err == nil {
		return Moment{s}, nil
	}
	if _, err := time.Parse(time.RFC3339Nano, s); err != nil {
		return Moment{}, errors.New("neither a date nor an RFC 3339 timestamp")
	}
	return Moment{s}, nil
}

// String returns the moment as it was given. It is the parameter for MomentSQL.
func (m Moment) String() string { return m.text }

// MarshalText implements encoding.TextMarshaler.
func (m Moment) MarshalText() ([]byte, error) { return []byte(m.text), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Moment) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMoment(string(b))
	return err
}
