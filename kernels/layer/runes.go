package layer

import (
	"io"
	"sync"
	"unicode/utf8"
)

// packet is the most that one write hands on. A pipe takes as much at once, and where it can (see [packets]) its reader
// gets each write for itself: GoNB makes text of whatever one read gives it.
const packet = 4096

// runes hands on text in writes of whole characters.
type runes struct {
	mu   sync.Mutex
	to   io.Writer
	rest []byte // the beginning of a character
}

func (r *runes) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := append(r.rest, p...)
	for len(text) > 0 {
		n := wholeRunes(text)
		if n == 0 {
			break
		}
		if _, err := r.to.Write(text[:n]); err != nil {
			return 0, err
		}
		text = text[n:]
	}
	r.rest = append([]byte(nil), text...)
	return len(p), nil
}

// wholeRunes is the length of the longest text of whole characters at the beginning that fits in a packet. What is no
// character counts as one.
func wholeRunes(text []byte) int {
	n := min(len(text), packet)
	for back := 1; back < utf8.UTFMax && back <= n; back++ {
		if utf8.RuneStart(text[n-back]) {
			if !utf8.FullRune(text[n-back : n]) {
				return n - back
			}
			break
		}
	}
	return n
}

// finish writes what is left.
func (r *runes) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rest) > 0 {
		_, _ = r.to.Write(r.rest)
		r.rest = nil
	}
}
