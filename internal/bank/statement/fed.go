package statement

// fed stands for the format of a file where rows come from a bank's feed. No format has this name.
const fed = "a bank's feed"

// Fed is [Identify] the other way round: which rows of files the rows of a bank's feed are, where
// the files came first. It compares them in the same manner, so that the order in which the two
// arrive is nothing to it: as many rows of a day and amount as files have brought are the same, and
// so is one of the amount at most [Apart] days away, first one with a similar text. The stored rows
// are those that files brought, and all rows are in one currency. Fed returns the place of the
// stored row for each row, and -1 for one that no file has brought. Each stored row is used once.
func Fed(rows []Row, stored []Stored) []int {
	m := &matcher{
		Identities: Identities{
			prints: Fingerprints{Format: fed}, stored: stored, likely: map[int]bool{}, as: make([]int32, len(rows)),
		},
		claimed: make([]bool, len(stored)), left: len(stored),
	}
	for n := range rows {
		m.as[n] = newRow
	}
	for _, find := range []func(int, Row, mark){m.likelySame, m.likelyNear, m.likelyFed} {
		for n, r := range rows {
			if m.as[n] == newRow && m.left > 0 {
				find(n, r, mark{})
			}
		}
	}
	out := make([]int, len(rows))
	for n, at := range m.as {
		out[n] = int(at)
	}
	return out
}
