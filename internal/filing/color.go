package filing

import "crypto/sha256"

// palette are the colours of what was given none: those of the seeded primaries, which can be told
// apart.
var palette = [16]string{
	"#02870c", "#995f2c", "#b7810f", "#e86518", "#2f63e1", "#e452a7", "#229991", "#d02a37",
	"#9c546e", "#a86bfd", "#0c82bf", "#7e83d3", "#c17273", "#73933d", "#a83fb8", "#087b61",
}

// colorOf is the colour of a tag or category that was given none. It follows from the slug, so that
// it is the same in every household and on every screen.
func colorOf(slug string) string {
	return palette[sha256.Sum256([]byte(slug))[0]%byte(len(palette))]
}

// shownColor is a stored colour, or where somebody cleared it the one that follows from the slug:
// tools and trees promise a hex colour.
func shownColor(stored, slug string) string {
	if stored == "" {
		return colorOf(slug)
	}
	return stored
}
