package journal

// Shown records that a deferred decision was shown. The wait for its reward begins then.
type Shown struct{ ID string }

// Settled records that the agent learned from a decision with this reward, when the wait was over. If the agent had
// learned from the decision before, this reward replaced the earlier one.
type Settled struct {
	ID      string
	Reward  float32
	Weight  float32
	Default bool // no reward had arrived, and this is the default
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

// ID returns the ID of the record's decision, or "" if the record does not belong to a decision.
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
