package journal

import "fmt"

// Arms are those that there are from now on.
type Arms struct {
	// Like has a number for each arm, removed ones too: the arm like which it began, or -1 for the prior.
	Like []int
	// Offered are the arms that decisions are among, in their order.
	Offered []int
	// Names has a name for each arm, or none.
	Names []string
	Was   int // how many arms there were before
	// Anew says that an agent which has learned anew from the log goes on with them, and that no belief has grown.
	Anew bool
}

// Features says what the numbers of decisions mean from now on, where they meant something else.
type Features struct {
	Context, Action       Named
	WasContext, WasAction Named // before
}

// Named are numbers with names, and after them so many buckets for features without.
type Named struct {
	Names   []string
	Buckets int
}

func (a *Arms) validate() error {
	if len(a.Offered) == 0 || len(a.Like) > mostNumbers || a.Was < 0 || a.Was > mostNumbers ||
		len(a.Names) != 0 && len(a.Names) != len(a.Like) {
		return fmt.Errorf("%d arms of %d, with %d names", len(a.Offered), len(a.Like), len(a.Names))
	}
	given := make([]bool, len(a.Like))
	for _, arm := range a.Offered {
		if arm < 0 || arm >= len(a.Like) || given[arm] {
			return fmt.Errorf("arm %d of %d is offered, or twice", arm, len(a.Like))
		}
		given[arm] = true
	}
	for arm, like := range a.Like {
		if like < -1 || like >= arm {
			return fmt.Errorf("arm %d begins like arm %d", arm, like)
		}
	}
	return nil
}

func (w *writer) arms(a *Arms) {
	w.count(len(a.Like))
	for _, like := range a.Like {
		w.count(like + 1)
	}
	w.count(len(a.Offered))
	for _, arm := range a.Offered {
		w.count(arm)
	}
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
		w.count(len(text))
		w.out = append(w.out, text...)
	}
}

// texts are nil where there are none. Each may be as long as a record.
func (r *reader) texts() (out []string) {
	n := r.count(len(r.left))
	for i := 0; i < n && r.err == nil; i++ {
		out = append(out, r.textOf(mostBytes))
	}
	return out
}

// counts are nil where there are none.
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
			return fmt.Errorf("%d buckets", n.Buckets)
		}
	}
	return nil
}
