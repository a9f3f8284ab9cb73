package journal

import "fmt"

// Arms records the arms of the agent from now on.
type Arms struct {
	// Like has an entry for each arm, including removed arms: the number of the arm whose belief it started with, or -1
	// if it started with the prior.
	Like []int
	// Offered lists the arms that decisions choose among, in their order.
	Offered []int
	// Names has a name for each arm, or is empty.
	Names []string
	Was   int // number of arms before the change
	// Anew marks the arms of an agent that has learned anew from the log. No belief has grown by this change.
	Anew bool
}

// Features records the meaning of the numbers of decisions from now on, after that meaning has changed.
type Features struct {
	Context, Action       Named
	WasContext, WasAction Named // the meaning before the change
}

// Named describes a vector of numbers: one number for each name, then Buckets numbers for features without a number of
// their own.
type Named struct {
	Names   []string
	Buckets int
}

func (a *Arms) validate() error {
	if len(a.Offered) == 0 || len(a.Like) > mostNumbers || a.Was < 0 || a.Was > mostNumbers ||
		len(a.Names) != 0 && len(a.Names) != len(a.Like) {
		return fmt.Errorf("%d of %d arms are offered, with %d names", len(a.Offered), len(a.Like), len(a.Names))
	}
	given := make([]bool, len(a.Like))
	for _, arm := range a.Offered {
		if arm < 0 || arm >= len(a.Like) || given[arm] {
			return fmt.Errorf("offered arm %d is not one of %d arms, or is offered twice", arm, len(a.Like))
		}
		given[arm] = true
	}
	for arm, like := range a.Like {
		if like < -1 || like >= arm {
			return fmt.Errorf("arm %d must begin like an earlier arm, or like -1, got %d", arm, like)
		}
	}
	return nil
}

func (w *writer) arms(a *Arms) {
	w.count(len(a.Like))
	for _, like := range a.Like {
		w.count(like + 1)
	}
	w.counts(a.Offered)
	w.texts(a.Names)
	w.count(a.Was)
	w.flag(a.Anew)
}

func (r *reader) arms() *Arms {
	a := &Arms{Like: r.counts(), Offered: r.counts(), Names: r.texts(), Was: r.count(mostNumbers), Anew: r.flag()}
	for i := range a.Like {
		a.Like[i]--
	}
	return a
}

func (w *writer) texts(all []string) {
	w.count(len(all))
	for _, text := range all {
		w.text(text)
	}
}

// texts returns nil for an empty list. Each text may be as long as a record.
func (r *reader) texts() (out []string) {
	n := r.count(len(r.left))
	for i := 0; i < n && r.err == nil; i++ {
		out = append(out, r.textOf(MaxBytes))
	}
	return out
}

func (w *writer) counts(all []int) {
	w.count(len(all))
	for _, n := range all {
		w.count(n)
	}
}

// counts returns nil for an empty list.
func (r *reader) counts() (out []int) {
	n := r.count(len(r.left))
	for i := 0; i < n && r.err == nil; i++ {
		out = append(out, r.count(mostNumbers+1))
	}
	return out
}

func (w *writer) named(n Named) {
	w.texts(n.Names)
	w.count(n.Buckets)
}

func (r *reader) named() Named { return Named{Names: r.texts(), Buckets: r.count(mostNumbers)} }

func (w *writer) features(f *Features) {
	for _, n := range []Named{f.Context, f.Action, f.WasContext, f.WasAction} {
		w.named(n)
	}
}

func (r *reader) features() *Features {
	return &Features{Context: r.named(), Action: r.named(), WasContext: r.named(), WasAction: r.named()}
}

func (f *Features) validate() error {
	for _, n := range []Named{f.Context, f.Action, f.WasContext, f.WasAction} {
		if n.Buckets < 0 || n.Buckets > mostNumbers {
			return fmt.Errorf("buckets must be from 0 to %d, got %d", mostNumbers, n.Buckets)
		}
	}
	return nil
}
