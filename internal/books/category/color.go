package category

import "crypto/sha256"

// palette holds the default colors: those of the built-in primaries, which are easy to distinguish.
var palette = [16]string{
	"#02870c", "#995f2c", "#b7810f", "#e86518", "#2f63e1", "#e452a7", "#229991", "#d02a37",
	"#9c546e", "#a86bfd", "#0c82bf", "#7e83d3", "#c17273", "#73933d", "#a83fb8", "#087b61",
}

// colorOf returns the default color of a tag or category. It is derived from the slug, so that it
// is the same in every household and on every screen.
func colorOf(slug string) string {
	return palette[sha256.Sum256([]byte(slug))[0]%byte(len(palette))]
}

// shownColor returns the stored color, or the default color if it was cleared, because tools and
// trees promise a hex color.
func shownColor(stored, slug string) string {
	if stored == "" {
		return colorOf(slug)
	}
	return stored
}
