package reading

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the maximum length that is read of a line; the rest is ignored.
const maxLine = 8 << 10

// Lines reads a text line by line.
type Lines struct {
	in  *bufio.Reader
	err error
}

// NewLines reads a text.
func NewLines(r io.Reader) *Lines { return &Lines{in: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next line without its line break. Its error is [io.EOF] at the end.
func (l *Lines) Next() (string, error) {
	if l.err != nil {
		return "", l.err
	}
	var long []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part[:min(len(part), max(0, maxLine-len(long)))]...)
			continue
		}
		l.err = err
		if err != nil && (!errors.Is(err, io.EOF) || len(part)+len(long) == 0) {
			return "", err
		}
		long = append(long, part[:min(len(part), max(0, maxLine-len(long)))]...)
		return string(bytes.TrimRight(long, "\r\n")), nil
	}
}
