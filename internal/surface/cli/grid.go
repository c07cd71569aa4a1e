package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A grid is rows of text under headings.
type grid struct {
	cols []column
	head []string
	rows [][]string
}

const (
	gap      = 2
	narrow   = 12 // minimum width of a text that is cut
	briefly  = 10 // minimum width of a memo, so that it fits beside the category on 80 columns
	namely   = 16 // minimum width of a name, unless the whole screen is narrower
	moneyIn  = "\x1b[32m"
	ordinary = "\x1b[0m"
)

// print aligns the columns, with numbers right-aligned. If the screen is too narrow, it first cuts
// long texts, then drops columns from the end. A number is never cut, because it would become
// another number. It returns the headings of the dropped columns.
func (g *grid) print(w io.Writer, width int, indent string, color bool) []string {
	widths := make([]int, len(g.cols))
	for i := range g.cols {
		widths[i] = utf8.RuneCountInString(g.head[i])
		for _, row := range g.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	shown := len(g.cols)
	for shown > 1 && !fitting(g.cols[:shown], widths[:shown], width) {
		shown--
	}
	dropped := g.head[shown:]
	widths = cut(g.cols[:shown], widths[:shown], width)
	for r := -1; r < len(g.rows); r++ {
		row := g.head
		if r >= 0 {
			row = g.rows[r]
		}
		var line strings.Builder
		for i, c := range g.cols[:shown] {
			text := fit(row[i], widths[i])
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if color && r >= 0 && c.name == "amount" && strings.HasPrefix(text, "+") {
				text = moneyIn + text + ordinary
			}
			switch {
			case c.number:
				line.WriteString(pad + text)
			case i < shown-1:
				line.WriteString(text + pad)
			default:
				line.WriteString(text)
			}
			if i < shown-1 {
				line.WriteString(strings.Repeat(" ", gap))
			}
		}
		fmt.Fprintln(w, indent+strings.TrimRight(line.String(), " "))
	}
	return dropped
}

// least returns the minimum width to which a text may be cut.
func (c column) least() int {
	if c.name == "name" || c.name == "before" || c.name == "summary" {
		return namely
	}
	if c.name == "detail" {
		return briefly
	}
	return narrow
}

// whole reports whether a column is shown uncut or not at all.
func (c column) whole() bool { return c.number || c.name == "short_id" || c.brief == screenNewest }

// fitting reports whether the columns fit if every text is cut to its minimum width. If one of the
// columns is optional, the texts must keep more than their minimum: an optional column must not
// make the other columns unreadable.
func fitting(cols []column, widths []int, width int) bool {
	total, ease := -gap, 2
	if slices.ContainsFunc(cols, func(c column) bool { return c.further }) {
		ease = 3
	}
	for i, c := range cols {
		n := widths[i]
		if !c.whole() {
			n = min(n, c.least()*ease/2)
		}
		total += n + gap
	}
	return total <= width
}

// cut shortens the longest texts until the row fits.
func cut(cols []column, widths []int, width int) []int {
	out := append([]int{}, widths...)
	total := -gap
	for _, n := range out {
		total += n + gap
	}
	for total > width {
		longest := -1
		for i, c := range cols {
			if !c.number && c.brief != screenNewest && out[i] > c.least() && (longest < 0 || out[i] > out[longest]) {
				longest = i
			}
		}
		if longest < 0 {
			if last := len(out) - 1; !cols[last].number && out[last] > total-width {
				out[last] -= total - width
			}
			return out
		}
		out[longest]--
		total--
	}
	return out
}

func fit(s string, room int) string {
	r := []rune(s)
	if len(r) <= room {
		return s
	}
	return string(r[:max(room-1, 0)]) + "…"
}
