package archive

// Name exports name for tests.
var Name = name

// EraseAtMost sets how many rows a call erases itself; a job erases more.
func (a *Archive) EraseAtMost(n int64) { a.eraseMost = n }
