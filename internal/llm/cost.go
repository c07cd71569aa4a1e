package llm

import (
	"math"
	"math/bits"

	"coffer/internal/platform/money"
)

// A Usage is the server's count of tokens. Input counts only tokens that were neither read from nor
// written to the server's cache.
type Usage struct {
	Input, CacheRead, CacheWrite, Output int64
	Known                                bool // false if the server reported nothing, or an impossible count
}

// Prompt returns the size of the whole prompt in tokens.
func (u Usage) Prompt() int64 { return sum(sum(u.Input, u.CacheRead), u.CacheWrite) }

// NewUsage returns a known usage. If a number is negative, the usage is unknown.
func NewUsage(input, cacheRead, cacheWrite, output int64) Usage {
	if min(input, cacheRead, cacheWrite, output) < 0 {
		return Usage{}
	}
	return Usage{input, cacheRead, cacheWrite, output, true}
}

// A Price is the price of a million tokens of each kind.
type Price struct {
	Input, CacheRead, CacheWrite, Output money.Micros
}

// tooMuch is the highest possible cost. Counts that are too large for a calculation cost that much.
const tooMuch = money.Micros(1e18 - 1)

// Cost returns the price of a usage, rounded up.
func (p Price) Cost(u Usage) money.Micros {
	return cost(
		part{u.Input, p.Input}, part{u.CacheRead, p.CacheRead}, part{u.CacheWrite, p.CacheWrite},
		part{u.Output, p.Output})
}

// Bound returns the maximum cost of a call, regardless of how its prompt is cached.
func (p Price) Bound(promptTokens, maxTokens int64) money.Micros {
	return cost(part{promptTokens, max(p.Input, p.CacheRead, p.CacheWrite)}, part{maxTokens, p.Output})
}

// Affordable returns the largest number of reply tokens whose Bound is within rest, for a prompt of
// that size.
func (p Price) Affordable(promptTokens int64, rest money.Micros) int64 {
	left := rest - p.Bound(promptTokens, 0)
	switch {
	case left < 0:
		return 0
	case p.Output == 0:
		return math.MaxInt64
	}
	hi, lo := bits.Mul64(uint64(left), 1_000_000)
	if hi >= uint64(p.Output) {
		return math.MaxInt64
	}
	n, _ := bits.Div64(hi, lo, uint64(p.Output))
	return int64(min(n, math.MaxInt64))
}

// A part of a cost is a number of tokens at a price.
type part struct {
	tokens int64
	price  money.Micros
}

// cost adds up the parts and rounds the sum up once. Rounding each part up could give more than the
// Bound of all parts.
func cost(parts ...part) money.Micros {
	var hi, lo uint64
	for _, p := range parts {
		h, l := bits.Mul64(uint64(max(p.tokens, 0)), uint64(max(p.price, 0)))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry // four products of 63 bits each stay below 2^128
	}
	lo, carry := bits.Add64(lo, 999_999, 0)
	if hi += carry; hi >= 1_000_000 {
		return tooMuch
	}
	n, _ := bits.Div64(hi, lo, 1_000_000)
	return money.Micros(min(n, uint64(tooMuch)))
}

// sum adds without overflow.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Bytes returns the size of a request's content: system prompt, tools and turns.
func (r Request) Bytes() int64 {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, t := range r.Turns {
		n += len(t.User) + len(t.Model)
		for _, x := range t.Results {
			n += len(x.Call) + len(x.Content)
		}
	}
	return int64(n)
}

// A Prompt is the size of an earlier request of a conversation, and the server's count of its
// tokens.
type Prompt struct {
	Bytes  int64
	Tokens int64 // 0 if the server did not report it
}

const (
	aroundTools = 1000 // tokens that a server adds around tools and turns
	aroundTurns = 200  // tokens that it adds around turns that are new
	bytesPer    = 6    // more bytes per token than any text of ours has
)

// PromptBound returns the maximum number of tokens that a request can have. It needs no tokenizer,
// because no tokenizer makes more tokens than there are bytes. If the server has counted an earlier
// request of the same conversation, only the bytes that were added since then are uncertain.
func PromptBound(bytes int64, before Prompt) int64 {
	bound := bytes + aroundTools
	if before.Tokens > 0 && bytes >= before.Bytes && !WasCut(before) {
		bound = min(bound, sum(before.Tokens, bytes-before.Bytes+aroundTurns))
	}
	return bound
}

// WasCut reports whether a server counted far fewer tokens in a conversation's first prompt than
// the prompt has. Such a server has a context that is too small, and drops the beginning without an
// error. WasCut returns false for a server that reports no count.
func WasCut(first Prompt) bool {
	return first.Tokens > 0 && first.Bytes >= 2000 && first.Tokens < first.Bytes/bytesPer
}
