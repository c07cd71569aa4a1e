// Package qr draws a short text as a QR code, for a terminal or as its modules. The library
// rsc.io/qr encodes the text.
package qr

import (
	"strings"

	"rsc.io/qr"
)

// A Code is an encoded text, without the quiet zone around it.
type Code struct{ code *qr.Code }

// Encode encodes the text, or fails if it is too long. It uses the lowest error correction, which
// is enough for a screen. Fewer modules also mean larger modules.
func Encode(text string) (Code, error) {
	code, err := qr.Encode(text, qr.L)
	return Code{code}, err
}

// Rows returns the modules of the code: a string of 0 (light) and 1 (dark) for
// each row, without the quiet zone.
func (c Code) Rows() []string {
	rows := make([]string, c.code.Size)
	for y := range rows {
		row := make([]byte, c.code.Size)
		for x := range row {
			row[x] = '0'
			if c.code.Black(x, y) {
				row[x] = '1'
			}
		}
		rows[y] = string(row)
	}
	return rows
}

// quiet is the width of the empty zone around the code that the standard requires, in modules.
const quiet = 4

// String draws the code with half blocks and its quiet zone, light on dark as most terminals are.
func (c Code) String() string {
	end := c.code.Size + quiet
	light := func(y, x int) bool { return !c.code.Black(x, y) } // the zone around the code is also light
	var b strings.Builder
	for y := -quiet; y < end; y += 2 {
		for x := -quiet; x < end; x++ {
			below := y+1 < end && light(y+1, x)
			switch above := light(y, x); {
			case above && below:
				b.WriteRune('█')
			case above:
				b.WriteRune('▀')
			case below:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
