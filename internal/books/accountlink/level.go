package accountlink

import "slices"

// mostLevel is the largest number of equal transfers on one day that the function level handles.
const mostLevel = 8

// level finds groups of equal transfers that cannot be distinguished, such as two people's equal
// payments into a joint account. A group has as many rows of money out as of money in, all on the
// same day. The candidates of each row are exactly the rows of the other side.
func (m *matcher) level(out, in []row, may func(a, b int) bool, found func(a, b []row)) {
	candidates := func(rows, others []row) [][]int {
		lists, first := make([][]int, len(rows)), 0
		for i, r := range rows {
			for first < len(others) && others[first].day < r.day-transferDays {
				first++
			}
			for k := first; k < len(others) && others[k].day <= r.day+transferDays && len(lists[i]) <= mostLevel; k++ {
				if others[k].account != r.account && may(r.account, others[k].account) {
					lists[i] = append(lists[i], k)
				}
			}
		}
		return lists
	}
	to, from := candidates(out, in), candidates(in, out)
	for i, list := range to {
		if len(list) < 2 || len(list) > mostLevel {
			continue
		}
		same := from[list[0]]
		if len(same) != len(list) || same[0] != i {
			continue
		}
		a, b := make([]row, 0, len(list)), make([]row, 0, len(list))
		for n := range list {
			if slices.Equal(to[same[n]], list) && slices.Equal(from[list[n]], same) &&
				out[same[n]].day == out[i].day && in[list[n]].day == out[i].day {
				a, b = append(a, out[same[n]]), append(b, in[list[n]])
			}
		}
		if len(a) == len(list) {
			found(a, b)
		}
	}
}
