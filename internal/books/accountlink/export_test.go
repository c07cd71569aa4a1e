package accountlink

// SettleAtMost sets how many transactions are updated within a call. For more, a job updates them.
func (l *Links) SettleAtMost(n int) { l.limit = n }
