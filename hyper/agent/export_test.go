package agent

// Told adds a datum and makes a round of SGD steps, or neither: what Observe does with the feedback of a decision.
func (a *Agent) Told(x []float32, y float32) error { return a.learn(a.added(x, y, 1), a.trained) }

// Nameless is the decision without its ID, part of which is random.
func (d Decision) Nameless() Decision {
	d.ID = ""
	return d
}
