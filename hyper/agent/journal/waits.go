package journal

// Shown says that a deferred decision was shown: from then on its reward is waited for.
type Shown struct{ ID string }

// Settled says that the agent learned from a decision with this reward, when its wait was over; of a decision that it
// had learned from before, that this reward took the place of the last.
type Settled struct {
	ID      string
	Reward  float32
	Weight  float32
	Default bool // no reward had come: it is the default
}

func (w *writer) flag(on bool) {
	n := 0
	if on {
		n = 1
	}
	w.count(n)
}

func (r *reader) flag() bool { return r.count(1) == 1 }

func (w *writer) settled(s *Settled) {
	w.text(s.ID)
	w.number(s.Reward)
	w.number(s.Weight)
	w.flag(s.Default)
}

func (r *reader) settled() *Settled {
	return &Settled{ID: r.text(), Reward: r.number(), Weight: r.number(), Default: r.flag()}
}

// ID returns the ID of the decision that the record is about, or "" where it is about none.
func (r Record) ID() string {
	switch {
	case r.Decision != nil:
		return r.Decision.ID
	case r.Feedback != nil:
		return r.Feedback.ID
	case r.Shown != nil:
		return r.Shown.ID
	case r.Settled != nil:
		return r.Settled.ID
	}
	return ""
}
