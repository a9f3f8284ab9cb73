package lab

// batch is a group of runs that advance together in one compiled program.
type batch struct {
	number int
	shape  int // index of its shape in the plan
	lanes  []lane
}

// lane is one run: an entry of the Spec and the number of the run, which determines the seed.
type lane struct{ entry, run int }

// plan divides a Spec into batches of at most size runs. Each batch has one shape, and the batches are in the order of
// the entries. Entries of one shape, such as a sweep over numbers that do not shape the computation, share batches.
type plan struct {
	spec    Spec
	shapes  []Entry // the first entry of each shape
	shapeOf []int   // the shape of each entry
	batches []batch
}

func newPlan(spec Spec, size int) plan {
	p := plan{spec: spec}
	number := map[string]int{}
	var lanes [][]lane
	for i, e := range spec.Entries {
		key := e.Shape()
		s, ok := number[key]
		if !ok {
			s = len(p.shapes)
			number[key] = s
			p.shapes = append(p.shapes, e)
			lanes = append(lanes, nil)
		}
		p.shapeOf = append(p.shapeOf, s)
		for run := range spec.Runs {
			lanes[s] = append(lanes[s], lane{i, run})
		}
	}
	for s, all := range lanes {
		count := batches(len(all), size)
		for i := range count {
			part := all[i*len(all)/count : (i+1)*len(all)/count]
			p.batches = append(p.batches, batch{number: len(p.batches), shape: s, lanes: part})
		}
	}
	return p
}

// batches returns the number of batches for a number of runs, with at most size runs in each. All batches have the same
// size if runs has a divisor that is at least half of size, because each further size needs a compilation.
func batches(runs, size int) int {
	for n := min(size, runs); 2*n >= size; n-- {
		if runs%n == 0 {
			return runs / n
		}
	}
	return (runs + size - 1) / size
}

func (p plan) rows(b batch) int { return len(b.lanes) * len(Schedule(p.spec.Periods)) }

func (p plan) seeds(b batch) []uint64 {
	out := make([]uint64, len(b.lanes))
	for i, l := range b.lanes {
		out[i] = p.spec.Seed + uint64(l.run)
	}
	return out
}

// inputs returns the numbers of the settings that differ between the runs of a batch, by name.
func (p plan) inputs(b batch) map[string][]float32 {
	out, entry := map[string][]float32{}, -1
	var numbers map[string]float64
	for _, l := range b.lanes {
		if l.entry != entry {
			entry, numbers = l.entry, p.spec.Entries[l.entry].Setting.numbers(p.spec.Periods)
		}
		for name, v := range numbers {
			out[name] = append(out[name], float32(v))
		}
	}
	return out
}
