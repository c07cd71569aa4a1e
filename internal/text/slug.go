package text

import "regexp"

// MaxSlug is how long the slug of a tag or a category may be.
const MaxSlug = 64

// TagSlug is the shape of a tag's slug, folded to lower case already.
var TagSlug = regexp.MustCompile(`^[a-z0-9]+([-_:][a-z0-9]+)*$`)

// TagSlugHint says TagSlug in words.
const TagSlugHint = "words of a-z and 0-9 joined by - _ or :"
