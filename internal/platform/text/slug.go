package text

import "regexp"

// MaxSlug is the longest slug that a tag or a category may have.
const MaxSlug = 64

// TagSlug matches a tag's slug after it was folded to lower case.
var TagSlug = regexp.MustCompile(`^[a-z0-9]+([-_:][a-z0-9]+)*$`)

// TagSlugHint describes TagSlug in words.
const TagSlugHint = "words of a-z and 0-9 joined by - _ or :"
