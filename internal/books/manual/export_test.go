package manual

import (
	"coffer/internal/platform/id"
)

// Greedy replaces the matching with a control: it takes the first candidate, instead of requiring
// that two transactions are each other's only candidate.
func (h *Manual) Greedy() {
	h.decide = func(all []candidate) (map[id.ID]id.ID, []id.ID) {
		matched, taken := map[id.ID]id.ID{}, map[id.ID]bool{}
		for _, c := range all {
			if _, has := matched[c.Manual]; !has && c.Bank != nil && !taken[*c.Bank] {
				matched[c.Manual], taken[*c.Bank] = *c.Bank, true
			}
		}
		return matched, nil
	}
}
