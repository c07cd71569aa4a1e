package manual

import (
	"coffer/internal/platform/id"
)

// Greedy makes the hand match without the rule that each must be the other's only candidate: the
// control, which takes what comes first.
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
