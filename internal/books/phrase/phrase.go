// Package phrase says numbers of records in words, for summaries and messages. It must not know how
// they are used.
package phrase

import "fmt"

// Several is a number of transactions in words.
func Several(n int) string { return Count(n, "transaction") }

// Count is a number of things in words; the plural of the noun ends in s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
