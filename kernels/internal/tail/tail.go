// Package tail keeps the end of a process's output.
package tail

import (
	"bytes"
	"strings"
	"sync"
)

// Buffer keeps the last few kilobytes that are written to it. It is safe for concurrent use.
type Buffer struct {
	mu  sync.Mutex
	buf []byte
}

const size = 4 << 10

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, p...)
	if extra := len(b.buf) - size; extra > 0 {
		b.buf = bytes.Clone(b.buf[extra:])
	}
	return len(p), nil
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.TrimSpace(string(b.buf))
}

// Line returns the latest line, shortened for a terminal.
func (b *Buffer) Line() string {
	lines := strings.Split(b.String(), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if runes := []rune(line); len(runes) > 90 {
		return string(runes[:90]) + "..."
	}
	return line
}
