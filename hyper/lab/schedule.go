package lab

// scheduleRatio is the ratio between successive periods of a schedule, 10^(1/16).
const scheduleRatio = 1.1547819846894583

// Schedule lists the periods at which rows are written: up to 16 for each factor of ten, evenly spaced on a logarithmic
// scale, and the last period.
func Schedule(periods int) []int {
	var out []int
	for x := 1.0; int(x) < periods; x *= scheduleRatio {
		if n := int(x); len(out) == 0 || n > out[len(out)-1] {
			out = append(out, n)
		}
	}
	return append(out, periods)
}
