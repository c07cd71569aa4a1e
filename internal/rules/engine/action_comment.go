package engine

import (
	"math"
	"unicode/utf8"

	"coffer/internal/platform/text"
)

// MaxComment is the most characters that a comment may have.
const MaxComment = 10_000

// addComment adds a comment, only at sync. If a rule were applied again, it would add its comment
// again.
var addComment = effect{
	name: AddComment, payload: []string{"content"},
	doc: "adds a comment each time the rule matches at sync, but not when it is applied to stored transactions",
	check: func(f *faults, path string, a *Action) {
		if utf8.RuneCountInString(a.Content) > MaxComment {
			f.add(at(path, "content"), "length", "must have at most %d characters", MaxComment)
			return
		}
		if a.Content = text.Prose(a.Content, math.MaxInt).Plain(); a.Content == "" {
			f.add(at(path, "content"), "empty", "must contain visible text")
		}
	},
	do: func(r *run, a *Action) {
		if r.pass.Event == Retroactive {
			return
		}
		r.comments = append(r.comments, ruled{r.rule, a})
		r.note(AboutComment, a, Applied)
	},
}
