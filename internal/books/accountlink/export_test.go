package accountlink

// SettleAtMost makes a job settle more transactions than these.
func (l *Links) SettleAtMost(n int) { l.limit = n }
