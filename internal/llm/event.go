package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// An Event is one message of a stream of server-sent events.
type Event struct {
	Name string // "" if the stream names none
	Data []byte
}

// Events yields the events of a stream. It skips comments and unknown fields. It does not yield an
// event that the end of the stream cut off, because only the blank line after an event completes
// it.
func (a *Answer) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewReader(a.Body)
		var e Event
		some := false
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Event{}, err)
				}
				return
			}
			line = bytes.TrimRight(line, "\r\n")
			if len(line) == 0 {
				if some && !yield(e, nil) {
					return
				}
				e, some = Event{}, false
				continue
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "event":
				e.Name = string(value)
			case "data":
				if some {
					e.Data = append(e.Data, '\n')
				}
				e.Data, some = append(e.Data, value...), true
			}
		}
	}
}
