package engine

import (
	"slices"
	"strings"
)

var addTag = effect{
	name: AddTag, payload: []string{"tag_slug"}, sets: FieldTags,
	doc:   "adds a tag; an unknown slug is registered when the rule is saved",
	check: checkTag,
	do:    func(r *run, a *Action) { r.tag(a, false) },
}

var removeTag = effect{
	name: RemoveTag, payload: []string{"tag_slug"},
	doc:   "removes a tag",
	check: checkTag,
	do:    func(r *run, a *Action) { r.tag(a, true) },
}

func checkTag(f *faults, path string, a *Action) {
	a.TagSlug = strings.ToLower(a.TagSlug)
	if !isTagSlug(a.TagSlug) {
		f.add(at(path, "tag_slug"), "pattern", "must be a tag's slug: %s", tagSlugHint)
	}
}

// tag adds a tag to the draft or removes it. It copies the caller's slice of tags before the first
// change.
func (r *run) tag(a *Action, remove bool) {
	slug := a.TagSlug
	place, present := slices.BinarySearch(r.draft.Tags, slug)
	if slices.Contains(r.draft.HeldTags, slug) && !r.pass.OverwriteManual {
		r.keep(AboutTag, a, present != remove)
		return
	}
	if present == remove {
		if !r.ownTags {
			r.draft.Tags, r.ownTags = slices.Clone(r.draft.Tags), true
		}
		if remove {
			r.draft.Tags = slices.Delete(r.draft.Tags, place, place+1)
		} else {
			r.draft.Tags = slices.Insert(r.draft.Tags, place, slug)
			r.wake(FieldTags)
		}
	}
	latest := ruled{r.rule, a}
	if i := slices.IndexFunc(r.tags, func(s ruled) bool { return s.action.TagSlug == slug }); i >= 0 {
		r.tags[i] = latest
	} else {
		r.tags = append(r.tags, latest)
	}
	r.note(AboutTag, a, "")
}
