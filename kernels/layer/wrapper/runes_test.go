package wrapper

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/janpfeifer/must"
)

// writes records each write.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

func TestRunes(t *testing.T) {
	text := strings.Repeat("aé漢🚀", 5000)
	var got writes
	to := &runes{to: &got}
	r := rand.New(rand.NewPCG(1, 2))
	for rest := text; rest != ""; {
		n := min(len(rest), 1+r.IntN(9000))
		must.M1(to.Write([]byte(rest[:n])))
		rest = rest[n:]
	}
	to.finish()
	for _, w := range got {
		if !utf8.ValidString(w) || len(w) > packet {
			t.Fatalf("got a write of %d bytes, whole characters: %v", len(w), utf8.ValidString(w))
		}
	}
	if strings.Join(got, "") != text {
		t.Error("the written text differs")
	}

	got = nil
	for _, part := range []string{"\xff\xfe\x80\x80\x80", "\xc3", "\xa9", "\xf0\x9f"} { // Invalid bytes do not change.
		to.Write([]byte(part))
	}
	to.finish()
	if all := strings.Join(got, ""); all != "\xff\xfe\x80\x80\x80é\xf0\x9f" {
		t.Errorf("got text %q, want the same bytes", got)
	}
}
