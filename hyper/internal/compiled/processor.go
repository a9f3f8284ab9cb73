package compiled

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
)

// deciding lists the names of lines in /proc/cpuinfo that determine the instruction sets, on x86-64 and on Arm.
var deciding = []string{"vendor_id", "cpu family", "model", "model name", "stepping", "flags",
	"CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features"}

// Processor describes all kinds of processors of this machine with their instruction sets, and the number of processors
// that the calling thread may use, because XLA divides work among them. It returns an error if the operating system
// does not report the instruction sets.
func Processor() (string, error) {
	text, err := cpuinfo()
	if err != nil {
		return "", fmt.Errorf("the processor's instruction set is not known: %w", err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(line, ":")
		if slices.Contains(deciding, strings.TrimSpace(name)) {
			found[strings.TrimSpace(line)] = true
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("the processor's instruction set is not known: this system does not report it")
	}
	lines := slices.Sorted(maps.Keys(found))
	return fmt.Sprintf("%s/%s, %d processors\n%s",
		runtime.GOOS, runtime.GOARCH, Usable(), strings.Join(lines, "\n")), nil
}

// Environment returns the variables that XLA reads and that change compiled programs.
func Environment() string {
	var out []string
	for _, name := range []string{"XLA_FLAGS", "NPROC"} {
		out = append(out, name+"="+os.Getenv(name))
	}
	return strings.Join(out, "\n")
}
