package wrapper

import (
	"io"
	"sync"
	"unicode/utf8"
)

// packet is the maximum size of a write in bytes. A pipe accepts that many bytes at once, and if possible (see
// [posix.PacketMode]) its reader receives each write separately: GoNB converts the bytes of each read to text.
const packet = 4096

// runes passes on text in writes of whole characters.
type runes struct {
	mu   sync.Mutex
	to   io.Writer
	rest []byte // the first bytes of an incomplete character
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

// wholeRunes returns the length of the longest prefix of whole characters that fits into a packet. An invalid byte
// counts as a character.
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

// finish writes the remaining bytes.
func (r *runes) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rest) > 0 {
		_, _ = r.to.Write(r.rest)
		r.rest = nil
	}
}
