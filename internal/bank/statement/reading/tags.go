package reading

import (
	"bufio"
	"bytes"
	"errors"
	"html"
	"io"
	"strings"
)

// Limits of the text between < and >, and of the text after a tag; the rest is ignored.
const (
	maxTag  = 4 << 10
	maxText = 64 << 10
	maxBank = 1024 // names that are cached
)

// Tags splits a file into tags, each with the text after it. It expands only character entities and
// fetches nothing. It does not know whether a file is XML or SGML, so its caller must detect
// elements without an end.
type Tags struct {
	in    *bufio.Reader
	upper bool
	text  []byte
	next  []byte // the text between the next < and >
	ahead bool   // whether next is filled
	tag   []byte
	names map[string]string
}

// NewTags reads a file. If upper is set, names are returned in capitals.
func NewTags(r io.Reader, upper bool) *Tags {
	return &Tags{in: bufio.NewReaderSize(r, 64<<10), upper: upper, names: map[string]string{}}
}

// A Tag begins or ends an element, and has the text up to the next tag. It is valid until the next
// call.
type Tag struct {
	Name  string // without a prefix; a declaration has a ! in front
	End   bool
	Empty bool // begins and ends the element: <a/>
	inner []byte
	text  []byte
}

// Next returns the next tag. Its error is [io.EOF] at the end.
func (t *Tags) Next() (Tag, error) {
	if !t.ahead {
		if err := t.read(); err != nil { // text before the first tag
			return Tag{}, err
		}
	}
	t.tag = append(t.tag[:0], t.next...)
	err := t.read()
	if err != nil && !errors.Is(err, io.EOF) {
		return Tag{}, err
	}
	out := Tag{inner: t.tag, text: t.text}
	name, ending := bytes.CutPrefix(t.tag, []byte{'/'})
	out.End, out.Empty = ending, !ending && bytes.HasSuffix(name, []byte{'/'})
	if at := bytes.IndexAny(name, " \t\r\n/"); at >= 0 {
		name = name[:at]
	}
	if at := bytes.LastIndexByte(name, ':'); at >= 0 {
		name = name[at+1:]
	}
	out.Name = t.name(name)
	return out, nil
}

// name returns a name as a string. The string is allocated only once for each name.
func (t *Tags) name(b []byte) string {
	if n, ok := t.names[string(b)]; ok {
		return n
	}
	n := string(b)
	if t.upper {
		n = strings.ToUpper(n)
	}
	if len(t.names) < maxBank {
		t.names[string(b)] = n
	}
	return n
}

// read reads the text up to the next tag, and the inside of that tag. A < that does not begin a tag
// is text. Comments and processing instructions are ignored.
func (t *Tags) read() error {
	t.text, t.next, t.ahead = t.text[:0], t.next[:0], false
	for {
		if err := t.until('<', &t.text, maxText); err != nil {
			return err
		}
		peek, _ := t.in.Peek(8)
		var err error
		switch {
		case bytes.HasPrefix(peek, []byte("![CDATA[")):
			_, _ = t.in.Discard(len(peek))
			err = t.literal()
		case bytes.HasPrefix(peek, []byte("!--")):
			err = t.skip("--")
		case bytes.HasPrefix(peek, []byte("?")):
			err = t.skip("?")
		case len(peek) > 0 && beginsTag(peek[0]):
			if err = t.inside(); err == nil {
				t.ahead = true
				return nil
			}
		default:
			t.text = append(t.text, '<')
		}
		if err != nil {
			return err
		}
	}
}

func beginsTag(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '/' || c == '!' || c == '_'
}

// inside reads up to the > that is not in a quoted value.
func (t *Tags) inside() error {
	for {
		if err := t.until('>', &t.next, maxTag); err != nil {
			return err
		}
		if bytes.Count(t.next, []byte{'"'})%2 == 0 || len(t.next) >= maxTag {
			return nil
		}
		t.next = append(t.next, '>')
	}
}

// until appends the bytes before the mark to b, up to a limit, and consumes the mark.
func (t *Tags) until(mark byte, b *[]byte, limit int) error {
	for {
		part, err := t.in.ReadSlice(mark)
		text := part
		if err == nil {
			text = part[:len(part)-1]
		}
		*b = append(*b, text[:min(len(text), max(0, limit-len(*b)))]...)
		if err == nil || !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// literal reads the rest of a CDATA section as text.
func (t *Tags) literal() error {
	for end := false; !end; {
		t.next = t.next[:0]
		if err := t.until('>', &t.next, maxText); err != nil {
			return err
		}
		var rest []byte
		rest, end = bytes.CutSuffix(t.next, []byte("]]"))
		if !end {
			rest = append(rest, '>')
		}
		if len(t.text)+len(rest) <= maxText {
			t.text = append(t.text, bytes.ReplaceAll(rest, []byte("&"), []byte("&amp;"))...)
		}
	}
	t.next = t.next[:0]
	return nil
}

// skip ignores everything up to these characters and a >.
func (t *Tags) skip(end string) error {
	for {
		t.next = t.next[:0]
		if err := t.until('>', &t.next, maxText); err != nil {
			return err
		}
		if bytes.HasSuffix(t.next, []byte(end)) || len(t.next) >= maxText {
			t.next = t.next[:0]
			return nil
		}
	}
}

// Blank reports whether the text is only white space.
func (t Tag) Blank() bool { return len(bytes.TrimSpace(t.text)) == 0 }

// Text returns the text without surrounding white space.
func (t Tag) Text() string { return unescape(bytes.TrimSpace(t.text)) }

// Raw returns the text unchanged.
func (t Tag) Raw() string { return unescape(t.text) }

// Attr returns the value of an attribute, or "".
func (t Tag) Attr(name string) string {
	rest := t.inner
	for {
		at := bytes.Index(rest, []byte(name))
		if at < 0 {
			return ""
		}
		before := at > 0 && rest[at-1] <= ' '
		rest = rest[at+len(name):]
		value := bytes.TrimLeft(rest, " \t\r\n")
		if !before || len(value) == 0 || value[0] != '=' {
			continue
		}
		value = bytes.TrimLeft(value[1:], " \t\r\n")
		if len(value) == 0 || value[0] != '"' && value[0] != '\'' {
			return ""
		}
		end := bytes.IndexByte(value[1:], value[0])
		if end < 0 {
			return ""
		}
		return unescape(value[1 : 1+end])
	}
}

// unescape replaces character entities. A bare & stays.
func unescape(b []byte) string {
	s := string(b)
	at := strings.IndexByte(s, '&')
	if at < 0 {
		return s
	}
	var out strings.Builder
	for at >= 0 {
		out.WriteString(s[:at])
		s = s[at:]
		n := strings.IndexByte(s[:min(len(s), 12)], ';') + 1
		if n == 0 {
			n = 1
		}
		out.WriteString(html.UnescapeString(s[:n]))
		s = s[n:]
		at = strings.IndexByte(s, '&')
	}
	return out.String() + s
}
