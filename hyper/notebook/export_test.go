package notebook

// WriteCode is writeCode, for tests.
var WriteCode = writeCode

// shapes are those whose programs are kept.
func (l *lookers) shapes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.order
}
