package rule

// setCategory files the transaction; of several matches the last wins.
var setCategory = effect{
	name: "set_category", payload: []string{"category_slug"}, needs: 1, once: true,
	doc: "files the transaction under a category; of several matching rules the last wins",
	check: func(f *faults, path string, a *Action) {
		f.storable(at(path, "category_slug"), a.CategorySlug, maxSlug)
	},
	do: func(r *run, a *Action) {
		want := Effect{Rule: r.rule, Value: a.CategorySlug}
		switch {
		case r.draft.HeldCategory && !r.pass.OverwriteManual:
			r.keep(AboutCategory, want, r.draft.Category == a.CategorySlug)
			return
		case r.draft.Category != a.CategorySlug:
			r.draft.Category = a.CategorySlug
			r.wake(FieldCategory, a.CategorySlug)
		}
		r.category = r.rule
		r.try(AboutCategory, want)
	},
}
