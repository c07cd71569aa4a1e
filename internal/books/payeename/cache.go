package payeename

import "sync"

// remembered is the number of names in each half of the cache. A household with a million
// transactions has about 3,000 payees, and most transactions that are shown have one of a few
// hundred wordings.
const remembered = 8192

// A cache remembers the names of wordings. When the young half is full, it becomes the old half.
// Names that are in use move to the young half again, and the cache never holds more than both
// halves.
type cache struct {
	mu         sync.Mutex
	young, old map[string]string
}

var names cache

func (c *cache) name(wording string) string {
	c.mu.Lock()
	name, ok := c.young[wording]
	if !ok {
		if name, ok = c.old[wording]; ok {
			c.keep(wording, name)
		}
	}
	c.mu.Unlock()
	if ok {
		return name
	}
	name = Clean(wording)
	c.mu.Lock()
	c.keep(wording, name)
	c.mu.Unlock()
	return name
}

func (c *cache) keep(wording, name string) {
	if c.young == nil || len(c.young) >= remembered {
		c.young, c.old = make(map[string]string, remembered), c.young
	}
	c.young[wording] = name
}
