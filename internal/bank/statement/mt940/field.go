package mt940

import (
	"strings"

	"coffer/internal/bank/statement/reading"
)

// maxLines is the maximum number of lines that are read of a field; the rest is ignored.
const maxLines = 64

// A field is a tag with its lines.
type field struct {
	tag   string // 61, 60F; empty at the end of a message
	lines []string
}

// A scanner splits a file into fields. A line that does not begin with a tag continues the previous
// field, even if it begins with a hyphen. Only a line with nothing but a hyphen ends the message.
type scanner struct {
	in   *reading.Lines
	held string // a line that was read ahead
	has  bool
}

// next returns the next field. Its error is [io.EOF] at the end.
func (s *scanner) next() (field, error) {
	for {
		line, err := s.line()
		if err != nil {
			return field{}, err
		}
		tag, rest, ok := split(line)
		switch {
		case isEnd(line):
			return field{}, nil
		case !ok:
			continue // text outside any field
		}
		f := field{tag: tag, lines: []string{rest}}
		for {
			line, err := s.line()
			if err != nil {
				return f, nil //nolint:nilerr // the next call returns it again
			}
			if _, _, ok := split(line); ok || isEnd(line) {
				s.held, s.has = line, true
				return f, nil
			}
			if len(f.lines) < maxLines {
				f.lines = append(f.lines, line)
			}
		}
	}
}

func isEnd(line string) bool { return line == "-" || line == "-}" }

// split separates the tag from a line that begins with one.
func split(line string) (tag, rest string, ok bool) {
	if len(line) < 4 || line[0] != ':' {
		return "", "", false
	}
	end := strings.IndexByte(line[1:], ':') + 1
	if end < 3 || end > 4 {
		return "", "", false
	}
	for _, c := range line[1:end] {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return "", "", false
		}
	}
	return line[1:end], line[end+1:], true
}

// line returns the next line without the envelope before the first field. Some banks break a line
// within a tag, after its first colon.
func (s *scanner) line() (string, error) {
	if s.has {
		s.has = false
		return s.held, nil
	}
	line, err := s.in.Next()
	if err != nil {
		return "", err
	}
	if at := strings.Index(line, "{4:"); at >= 0 && strings.HasPrefix(line, "{") {
		line = line[at+len("{4:"):]
	}
	if line != ":" {
		return line, nil
	}
	rest, err := s.in.Next()
	return ":" + rest, err
}
