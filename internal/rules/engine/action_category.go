package engine

import "coffer/internal/platform/text"

// setCategory sets the category. If several rules match, the last one prevails.
var setCategory = effect{
	name: SetCategory, payload: []string{"category_slug"}, once: true, sets: FieldCategory,
	doc: "sets the category; if several rules match, the last wins",
	check: func(f *faults, path string, a *Action) {
		f.storable(at(path, "category_slug"), a.CategorySlug, text.MaxSlug)
	},
	do: func(r *run, a *Action) {
		same := r.draft.Category == a.CategorySlug
		if r.draft.HeldCategory && !r.pass.OverwriteManual {
			r.keep(AboutCategory, a, same)
			return
		}
		if !same {
			r.draft.Category = a.CategorySlug
			r.wake(FieldCategory)
		}
		r.category = r.rule
		r.note(AboutCategory, a, "")
	},
}
