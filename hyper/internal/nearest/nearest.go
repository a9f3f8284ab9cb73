// Package nearest finds the word that somebody meant, for errors about words that are not known.
package nearest

import "strings"

// Of returns the known word that is nearest to a word, and whether there is one near enough to suggest. The distance is the number of letters
// to insert, to delete, to replace, or to swap with the next one; upper and lower case are the same. One edit for each three letters, or part of
// three, is near enough. The first of equally near words wins.
func Of(word string, known []string) (string, bool) {
	asked := []rune(strings.ToLower(word))
	best, least := "", (len(asked)+2)/3+1
	for _, k := range known {
		if d := distance(asked, []rune(strings.ToLower(k))); d < least && d < len(asked) {
			best, least = k, d
		}
	}
	return best, best != ""
}

// Hint is the nearest word as the end of an error: `; did you mean "tanh"?`, or nothing when no known word is near.
func Hint(word string, known []string) string {
	if n, ok := Of(word, known); ok {
		return `; did you mean "` + n + `"?`
	}
	return ""
}

// distance is the number of edits that turn a into b (optimal string alignment). Libraries for Levenshtein's distance count a swap of two letters,
// the commonest slip, as two edits.
func distance(a, b []rune) int {
	var before []int // the row for a[:i-2]
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
