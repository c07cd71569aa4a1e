package statement

import (
	"slices"
	"testing"
)

// An agent's import only adds rows, which a revert can remove. It never changes the text or the
// date of a stored row. The control: if a person imports the same files, stored rows change.
func TestAnAgentsFileOnlyAdds(t *testing.T) {
	t.Parallel()
	const head = "Date,Description,Amount,Transaction ID\n"
	const first = head +
		"2026-01-01,GROCER,-12.50,f3a91c77\n2026-01-02,RENT,-900.00,0b7d52e4\n2026-01-05,SALARY,2500.00,c41e88aa\n"
	renamed := head + "2026-01-01,GROCER,-12.50,f3a91c77\n2026-01-02,RENT TO " +
		"EVIL,-900.00,0b7d52e4\n2026-01-06,NEW,-1.00,77aa12cd\n"
	moved := head + "2026-01-01,GROCER,-12.50,f3a91c77\n2026-01-03,RENT,-900.00,0b7d52e4\n2026-01-05,SALARY,2500.00,c41e88aa\n"
	b := newBranch(t)
	for _, agent := range []bool{true, false} {
		d := b.drawer(t)
		if _, err := d.put(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		before, err := d.Rows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d.onlyNew = agent
		changed, left := 0, int64(0)
		for _, file := range []string{first, renamed, moved} {
			got, err := d.put(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			if got.lines() != 3 {
				t.Errorf("%d of 3 lines were counted: %+v", got.lines(), got)
			}
			if file == first && got.Duplicates != 3 {
				t.Errorf("import the same file again: %+v", got)
			}
			changed, left = changed+int(got.Modified), left+got.RowsSkipped
		}
		after, err := d.Rows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stays := !slices.ContainsFunc(before, func(row string) bool { return !slices.Contains(after, row) })
		if agent != stays || agent != (changed == 0) || agent != (left == 2) {
			t.Errorf("imported by an agent: %v; %d rows changed, %d skipped; stored before %q, after %q", agent,
				changed, left, before, after)
		}
	}
}
