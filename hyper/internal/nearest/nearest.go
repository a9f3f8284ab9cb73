// Package nearest suggests the word that a user probably meant, for errors about unknown words.
package nearest

import (
	"slices"
	"strings"
)

// Of returns the known word that is nearest to a word, and whether it is near enough to suggest. The distance is the
// number of letters to insert, delete, replace, or swap with the next letter, without regard to case. A word is near
// enough if the distance is at most one for each three letters, rounded up. Among equally near words, the first is
// returned. If none is near enough, Of looks for the only known word with the word as one of its parts, as "quantile"
// in "policy-quantile".
func Of(word string, known []string) (string, bool) {
	asked := []rune(strings.ToLower(word))
	best, least := "", (len(asked)+2)/3+1
	for _, k := range known {
		if d := distance(asked, []rune(strings.ToLower(k))); d < least && d < len(asked) {
			best, least = k, d
		}
	}
	if best == "" && word != "" {
		has := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.Contains("-"+k+"-", "-"+word+"-") })
		if len(has) == 1 {
			best = has[0]
		}
	}
	return best, best != ""
}

// Hint returns ` (did you mean "tanh"?)`, to follow the unknown word in an error, or "" if no known word is near.
func Hint(word string, known []string) string {
	if n, ok := Of(word, known); ok {
		return ` (did you mean "` + n + `"?)`
	}
	return ""
}

// distance returns the number of edits that turn a into b (optimal string alignment). Libraries for Levenshtein's
// distance count a swap of two letters, the most common mistake, as two edits.
func distance(a, b []rune) int {
	var before []int // the row for a[:i-1]
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
