package archive

// Name is name.
var Name = name

// EraseAtMost makes a job erase more rows than these.
func (a *Archive) EraseAtMost(n int64) { a.eraseMost = n }
