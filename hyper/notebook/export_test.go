package notebook

// shapes returns the shapes whose programs are kept.
func (l *beliefPrograms) shapes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.order
}
