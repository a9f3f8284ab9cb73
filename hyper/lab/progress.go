package lab

import (
	"fmt"
	"slices"
	"time"
)

// Progress describes how much of a Spec has been run.
type Progress struct {
	Done, Total int64           // number of run-periods; run-periods of an earlier attempt count as done
	Computed    int64           // number of run-periods that this call computed
	Run         time.Duration   // time since the first program was ready
	Workers     int             // number of workers that run at the same time
	Busy        []time.Duration // time that each worker computed, without compiling and waiting
	Entries     []EntryProgress
}

// EntryProgress is the work that this call did for an entry of the Spec.
type EntryProgress struct {
	Computed int64         // number of run-periods
	Compile  time.Duration // time to compile the entry's program, which entries of one shape share
	Busy     time.Duration // time that all workers together computed
}

// Rate returns the run-periods per second of this call, over the time that the busiest worker computed.
func (p Progress) Rate() float64 {
	if p.Computed == 0 {
		return 0
	}
	return float64(p.Computed) / slices.Max(p.Busy).Seconds()
}

// Left returns the remaining time at the present rate.
func (p Progress) Left() time.Duration {
	if p.Computed == 0 {
		return 0
	}
	return time.Duration(float64(p.Run) * float64(p.Total-p.Done) / float64(p.Computed))
}

// Pace describes the rate, in a unit such as "per second", and the remaining time. It says so if nothing has been
// computed yet, and neither is known.
func (p Progress) Pace(unit string) string {
	if p.Computed == 0 && p.Done < p.Total {
		return "speed and time left not known yet"
	}
	return fmt.Sprintf("%.0f %s, %s left", p.Rate(), unit, p.Left().Round(time.Second))
}

// Seconds returns the time that the entry would take alone: the time of its workers divided by the number of workers.
func (p Progress) Seconds(entry int) float64 {
	return p.Entries[entry].Busy.Seconds() / float64(max(p.Workers, 1))
}

// progress returns a copy of the present progress. The caller must hold mu.
func (e *engine) progress() Progress {
	p := e.now
	p.Entries, p.Busy = slices.Clone(p.Entries), slices.Clone(p.Busy)
	if !e.started.IsZero() {
		p.Run = time.Since(e.started)
	}
	return p
}
