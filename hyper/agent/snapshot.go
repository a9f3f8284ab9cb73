package agent

import "sync/atomic"

// Snapshot is the belief of an agent at one time. It never changes. Any number of goroutines may read it while the
// agent continues to learn.
type Snapshot struct {
	agent   *form
	belief  *snapshot
	samples atomic.Uint64
	closed  atomic.Bool
}

// Snapshot returns the present belief of the agent. It shares memory with the agent until Close.
func (a *Agent) Snapshot() *Snapshot {
	f, belief := a.belief()
	return &Snapshot{agent: f, belief: belief}
}

// Sample draws functions as [Agent.Sample] does. A Snapshot counts its own samples: the first sample of one size is the
// same for every Snapshot of one state. Sample must not be called after Close.
func (s *Snapshot) Sample(x [][]float32, n int) ([][]float32, error) {
	return s.agent.sample(s.belief, x, n, &s.samples)
}

// Close frees the memory that only the Snapshot holds. It may be called again.
func (s *Snapshot) Close() {
	if !s.closed.Swap(true) {
		s.belief.drop()
	}
}
