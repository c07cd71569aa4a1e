package category

import "coffer/internal/platform/op"

const tsv = "text/tab-separated-values"

func (f *Categories) tagOps() []*op.Op {
	return []*op.Op{
		op.Shaped(op.Streaming(op.Spec{
			Name: "tag.list", Route: "GET /tags", Tool: "list_tags", Whole: true, Record: true,
			Summary: "Lists every tag.",
			Agent: "Lists every tag with its slug. Tags label transactions; needs-review marks the review " +
				"queue. Call it before creating a tag, to avoid duplicates.",
		}, f.EachTag), toolTags),
		op.Shaped(op.Writing(op.Spec{
			Name: "tag.create", Route: "POST /tags", Tool: "create_tag",
			Runs: op.Runs{Reach: op.ReachTag}, Summary: "Creates a tag.",
			Agent: "Creates a tag with a display name, color or icon. Tagging a transaction creates unknown " +
				"tags by itself. Use a colon for namespaces (trip:japan-2026).",
		}, f.CreateTag), toolTag),
		op.Reading(op.Spec{Name: "tag.get", Route: "GET /tags/{slug}", Summary: "Shows one tag."}, f.Tag),
		op.Shaped(op.Writing(op.Spec{
			Name: "tag.update", Route: "PATCH /tags/{slug}", Tool: "update_tag", Overwrites: true,
			Summary: "Changes a tag's name, color, icon or description; the slug stays.",
			Agent:   "Changes a tag's display name, color, icon or description. The slug cannot change.",
		}, f.PatchTag), toolTag),
		op.Writing(op.Spec{
			Name: "tag.delete", Route: "DELETE /tags/{slug}", Tool: "delete_tag", Summary: "Deletes a tag.",
			Destructive: true,
			Agent: "Deletes a tag. needs-review cannot be deleted; to close a review, remove it from the " +
				"transaction.",
		}, f.DeleteTag),
	}
}

func (f *Categories) categoryOps() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "category.list", Route: "GET /categories", Tool: "list_categories", Whole: true, Record: true,
			Summary: "Lists the category tree.",
			Agent: "Lists the whole two-level category tree. Use a slug wherever a category is expected; " +
				"prefer a subcategory. get_reference(kind: categories) returns only slugs and names, in an " +
				"eighth of the size.",
		}, f.Categories),
		op.Writing(op.Spec{
			Name: "category.create", Route: "POST /categories",
			Summary: "Creates a primary category or a subcategory.",
		}, f.CreateCategory),
		op.Reading(op.Spec{Name: "category.get", Route: "GET /categories/{id}", Summary: "Shows one category."},
			f.Category),
		op.Writing(op.Spec{
			Name: "category.update", Route: "PATCH /categories/{id}",
			Summary: "Changes a category's name, icon, color, order, kind, parent or whether it is hidden; " +
				"the slug stays.",
		}, f.PatchCategory),
		op.Writing(op.Spec{
			Name: "category.delete", Route: "DELETE /categories/{id}",
			Summary: "Deletes a category; everything that uses it moves to move_to.",
		}, f.DeleteCategory),
		op.Writing(op.Spec{
			Name: "category.merge", Route: "POST /categories/{id}/merge",
			Summary: "Merges a category and its subcategories into another category.",
		}, f.MergeCategory),
		op.Reading(op.Spec{
			Name: "category.export", Route: "GET /categories/export", Tool: "export_categories", TextOut: tsv,
			Summary: "Exports the categories as TSV, to edit and import again.",
			Agent: "Exports all categories as TSV with the columns slug, display_name, parent_slug, icon, color, " +
				"sort_order, hidden, merge_into. Edit it and pass it to import_categories.",
		}, f.ExportCategories),
		op.Writing(op.Spec{
			Name: "category.import", Heavy: true, Route: "POST /categories/import", Tool: "import_categories",
			TextIn: "tsv " + tsv, Destructive: true,
			Summary: "Applies an edited TSV of categories, either completely or not at all.",
			Agent: "Applies a TSV as export_categories writes it: a known slug is updated, a new one " +
				"created, a row with merge_into merged into that category; categories without a row stay. " +
				"If a line has an error, nothing is written and errors lists the lines. Call it with " +
				"dry_run first.",
		}, f.ImportCategories),
	}
}
