package journal

import "coffer/internal/platform/op"

// Ops returns the operations on changes, comments and timelines.
func (j *Journal) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "change.list", Route: "GET /changes", Tool: "list_changes", Core: true,
			Summary: "Lists changes, newest first.",
			Agent: "Lists changes, newest first: what was done, by whom and whether it was undone. " +
				"revert_change undoes one.",
		}, j.List),
		op.Reading(op.Spec{Name: "change.get", Route: "GET /changes/{change_id}", Summary: "Shows one change."}, j.Get),
		op.Reading(op.Spec{
			Name: "change.entries", Route: "GET /changes/{change_id}/entries",
			Summary: "Lists a change's entries: each field, before and after.",
		}, j.Entries),
		op.Writing(op.Spec{
			Name: "change.revert", Route: "POST /changes/{change_id}/revert",
			Summary: "Undoes a change: restores every field that has not been changed since.",
		}, j.Revert),
		op.Reading(op.Spec{
			Name: "comment.list", Route: "GET /transactions/{transaction_id}/comments",
			Summary: "Lists a transaction's comments, oldest first.",
		}, j.Comments),
		op.Once(op.Writing(op.Spec{
			Name: "comment.create", Route: "POST /transactions/{transaction_id}/comments",
			Tool: "add_transaction_comment", Runs: op.Runs{Reach: op.ReachNamed},
			Summary: "Adds a comment to a transaction.",
			Agent: "Adds a comment to a transaction, visible to the household. Explain in one or two sentences why " +
				"something was decided.",
		}, j.AddComment)),
		op.Writing(op.Spec{
			Name: "comment.update", Route: "PATCH /transactions/{transaction_id}/comments/{comment_id}",
			People: op.PeopleOthers, Summary: "Changes a comment's text.",
		}, j.PatchComment),
		op.Writing(op.Spec{
			Name: "comment.delete", Route: "DELETE /transactions/{transaction_id}/comments/{comment_id}",
			People: op.PeopleOthers, Summary: "Deletes a comment.",
		}, j.DeleteComment),
		op.Reading(op.Spec{
			Name: "annotation.list", Route: "GET /transactions/{transaction_id}/annotations", Tool: "list_annotations",
			Summary: "Shows a transaction's timeline, newest last.",
			Agent: "Shows a transaction's timeline, newest last: who set its category, tags and " +
				"counterparty, and its comments.",
		}, j.Annotations),
	}
}
