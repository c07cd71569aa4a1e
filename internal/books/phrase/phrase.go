// Package phrase puts numbers of records into words, for summaries and messages. It must not know
// how they are used.
package phrase

import "fmt"

// Several returns a number of transactions in words.
func Several(n int) string { return Count(n, "transaction") }

// Count returns a number of things in words. The plural of the noun must end in s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
