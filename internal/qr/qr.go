// Package qr draws a short text as a QR code, for a terminal or as its modules: ISO 18004, byte
// mode, error correction level L, versions 1 to 5, which hold up to 106 bytes. An address of this
// server needs no more, so larger codes, other modes and kanji are left out on purpose.
package qr

import (
	"errors"
	"strings"
)

// A version is how much a code of one size holds: bytes in all, of which some correct errors. Up to
// version 5 level L has one block, so nothing is interleaved.
type version struct{ size, data, check, align int }

var versions = []version{{21, 19, 7, 0}, {25, 34, 10, 18}, {29, 55, 15, 22}, {33, 80, 20, 26}, {37, 108, 26, 30}}

// A Code is a drawn code: its modules, true for dark, without the quiet zone.
type Code struct {
	size  int
	dark  [][]bool
	fixed [][]bool // modules that carry no data
}

// Encode draws the text, or fails if it is too long.
func Encode(text string) (*Code, error) {
	for _, v := range versions {
		if len(text)+2 <= v.data { // mode and length take 12 bits, the end up to 4
			return draw(v, codewords(v, text)), nil
		}
	}
	return nil, errors.New("qr: the text has more than 106 bytes")
}

// codewords are the bytes of a code: mode, length, text, padding, then error correction.
func codewords(v version, text string) []byte {
	var bits bitList
	bits.add(4, 4) // byte mode
	bits.add(len(text), 8)
	for i := range len(text) {
		bits.add(int(text[i]), 8)
	}
	bits.add(0, 4) // the end, which also fills the last byte
	data := bits.bytes()
	for pad := 0; len(data) < v.data; pad ^= 1 {
		data = append(data, []byte{0xec, 0x11}[pad])
	}
	return append(data, correction(data, v.check)...)
}

type bitList []bool

func (b *bitList) add(value, count int) {
	for i := count - 1; i >= 0; i-- {
		*b = append(*b, value>>i&1 == 1)
	}
}

func (b *bitList) bytes() []byte {
	out := make([]byte, (len(*b)+7)/8)
	for i, on := range *b {
		if on {
			out[i/8] |= 0x80 >> (i % 8)
		}
	}
	return out
}

// times multiplies in the field of 256 elements with the polynomial 0x11d.
func times(a, b byte) byte {
	var out int
	for x, y := int(a), int(b); y > 0; y >>= 1 {
		if y&1 == 1 {
			out ^= x
		}
		if x <<= 1; x&0x100 != 0 {
			x ^= 0x11d
		}
	}
	return byte(out)
}

// correction is the remainder of the data by the generator polynomial of that degree
// (Reed-Solomon).
func correction(data []byte, degree int) []byte {
	generator := make([]byte, degree) // without the leading 1
	generator[degree-1] = 1
	root := byte(1)
	for range degree {
		for i := range generator {
			generator[i] = times(generator[i], root)
			if i+1 < degree {
				generator[i] ^= generator[i+1]
			}
		}
		root = times(root, 2)
	}
	rest := make([]byte, degree)
	for _, d := range data {
		factor := d ^ rest[0]
		copy(rest, rest[1:])
		rest[degree-1] = 0
		for i := range rest {
			rest[i] ^= times(generator[i], factor)
		}
	}
	return rest
}

// draw places the patterns and the data, with the mask that leaves the least confusing picture.
func draw(v version, words []byte) *Code {
	var best *Code
	for mask := range masks {
		c := newCode(v)
		c.format(mask)
		c.fill(words, mask)
		if best == nil || c.penalty() < best.penalty() {
			best = c
		}
	}
	return best
}

func newCode(v version) *Code {
	c := &Code{size: v.size}
	for range v.size {
		c.dark, c.fixed = append(c.dark, make([]bool, v.size)), append(c.fixed, make([]bool, v.size))
	}
	for i := range v.size { // timing
		c.set(6, i, i%2 == 0)
		c.set(i, 6, i%2 == 0)
	}
	for _, at := range [][2]int{{3, 3}, {3, v.size - 4}, {v.size - 4, 3}} { // finders, with their white border
		c.square(at[0], at[1], 4, func(d int) bool { return d != 2 && d != 4 })
	}
	if v.align > 0 {
		c.square(v.align, v.align, 2, func(d int) bool { return d != 1 })
	}
	c.set(v.size-8, 8, true)
	return c
}

func (c *Code) set(row, column int, dark bool) {
	c.dark[row][column], c.fixed[row][column] = dark, true
}

// square draws rings around a center, as far as they lie in the code.
func (c *Code) square(row, column, reach int, dark func(ring int) bool) {
	for y := -reach; y <= reach; y++ {
		for x := -reach; x <= reach; x++ {
			if r, k := row+y, column+x; r >= 0 && r < c.size && k >= 0 && k < c.size {
				c.set(r, k, dark(max(y, -y, x, -x)))
			}
		}
	}
}

// formatBits are level L and the mask, with their own error correction (BCH) and the fixed mask.
func formatBits(mask int) int {
	data := 1<<3 | mask // level L is 01
	rest := data << 10
	for i := 14; i >= 10; i-- {
		if rest>>i&1 == 1 {
			rest ^= 0x537 << (i - 10)
		}
	}
	return (data<<10 | rest) ^ 0x5412
}

// format writes the format twice: around the first finder, and along the other two.
func (c *Code) format(mask int) {
	bits := formatBits(mask)
	for i := range 15 {
		on := bits>>i&1 == 1
		switch {
		case i < 6:
			c.set(i, 8, on)
		case i < 8:
			c.set(i+1, 8, on)
		case i == 8:
			c.set(8, 7, on)
		default:
			c.set(8, 14-i, on)
		}
		if i < 8 {
			c.set(8, c.size-1-i, on)
		} else {
			c.set(c.size-15+i, 8, on)
		}
	}
}

var masks = []func(row, column int) bool{
	func(r, c int) bool { return (r+c)%2 == 0 },
	func(r, _ int) bool { return r%2 == 0 },
	func(_, c int) bool { return c%3 == 0 },
	func(r, c int) bool { return (r+c)%3 == 0 },
	func(r, c int) bool { return (r/2+c/3)%2 == 0 },
	func(r, c int) bool { return r*c%2+r*c%3 == 0 },
	func(r, c int) bool { return (r*c%2+r*c%3)%2 == 0 },
	func(r, c int) bool { return ((r+c)%2+r*c%3)%2 == 0 },
}

// fill writes the bytes in columns of two, from the right, up and down by turns.
func (c *Code) fill(words []byte, mask int) {
	n := 0
	c.walk(func(row, column int) {
		on := n < len(words)*8 && words[n/8]>>(7-n%8)&1 == 1
		c.dark[row][column] = on != masks[mask](row, column)
		n++
	})
}

// walk visits the modules that carry data, in their order.
func (c *Code) walk(visit func(row, column int)) {
	up := true
	for right := c.size - 1; right > 0; right -= 2 {
		if right == 6 { // the timing column
			right--
		}
		for i := range c.size {
			row := i
			if up {
				row = c.size - 1 - i
			}
			for _, column := range []int{right, right - 1} {
				if !c.fixed[row][column] {
					visit(row, column)
				}
			}
		}
		up = !up
	}
}

// penalty returns how confusing the picture is: runs, blocks, shapes like finders, and imbalance.
func (c *Code) penalty() int {
	sum, dark := 0, 0
	finders := []string{"10111010000", "00001011101"}
	for i := range c.size {
		var row, column strings.Builder
		for k := range c.size {
			row.WriteByte(digit(c.dark[i][k]))
			column.WriteByte(digit(c.dark[k][i]))
			if c.dark[i][k] {
				dark++
			}
			if i > 0 && k > 0 && c.dark[i][k] == c.dark[i-1][k] && c.dark[i][k] == c.dark[i][k-1] &&
				c.dark[i][k] == c.dark[i-1][k-1] {
				sum += 3
			}
		}
		for _, line := range []string{row.String(), column.String()} {
			for run, k := 1, 1; k <= len(line); k++ {
				if k < len(line) && line[k] == line[k-1] {
					run++
					continue
				}
				if run >= 5 {
					sum += run - 2
				}
				run = 1
			}
			for _, f := range finders {
				for k := range line {
					if strings.HasPrefix(line[k:], f) {
						sum += 40
					}
				}
			}
		}
	}
	percent := dark * 100 / (c.size * c.size)
	return sum + max(percent-50, 50-percent)/5*10
}

func digit(on bool) byte {
	if on {
		return '1'
	}
	return '0'
}

// Rows returns the modules of the code: a string of 0 (light) and 1 (dark) for
// each row, without the quiet zone.
func (c *Code) Rows() []string {
	rows := make([]string, c.size)
	for i, row := range c.dark {
		b := make([]byte, c.size)
		for j, dark := range row {
			b[j] = digit(dark)
		}
		rows[i] = string(b)
	}
	return rows
}

// String draws the code with half blocks, light on dark as terminals mostly are, with its quiet
// zone of four modules.
func (c *Code) String() string {
	const quiet = 4
	light := func(row, column int) bool {
		row, column = row-quiet, column-quiet
		return row < 0 || column < 0 || row >= c.size || column >= c.size || !c.dark[row][column]
	}
	var b strings.Builder
	for row := 0; row < c.size+2*quiet; row += 2 {
		for column := range c.size + 2*quiet {
			below := row+1 < c.size+2*quiet && light(row+1, column)
			switch above := light(row, column); {
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
