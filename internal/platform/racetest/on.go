//go:build race

package racetest

// watching is whether the race detector is on.
const watching = true
