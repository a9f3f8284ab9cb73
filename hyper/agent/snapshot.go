package agent

import "sync/atomic"

// Snapshot is what an agent believed at one time. It never changes, and any number of goroutines may read it while the
// agent learns on.
type Snapshot struct {
	agent   *form
	belief  *snapshot
	samples atomic.Uint64
	closed  atomic.Bool
}

// Snapshot returns what the agent believes now. It shares its memory with the agent until Close.
func (a *Agent) Snapshot() *Snapshot {
	f, belief := a.belief()
	return &Snapshot{agent: f, belief: belief}
}

// Sample draws functions as [Agent.Sample] does. It has counts of its own: the first sample of one size is the same for
// every Snapshot of one state. It must not be called after Close.
func (s *Snapshot) Sample(x [][]float32, n int) ([][]float32, error) {
	return s.agent.sample(s.belief, x, n, &s.samples)
}

// Close frees what only the Snapshot holds. It may be called again.
func (s *Snapshot) Close() {
	if !s.closed.Swap(true) {
		s.belief.drop()
	}
}
