package compiled

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
)

// deciding are the lines of /proc/cpuinfo that tell instruction sets, on x86-64 and on Arm.
var deciding = []string{"vendor_id", "cpu family", "model", "model name", "stepping", "flags",
	"CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features"}

// Processor describes all kinds of processors of this machine with their instruction sets, and how many the calling
// thread may use: XLA splits work by them. The error says that the system does not tell.
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
		return "", fmt.Errorf("the processor's instruction set is not known: this system does not tell it")
	}
	lines := slices.Sorted(maps.Keys(found))
	return fmt.Sprintf("%s/%s, %d processors\n%s",
		runtime.GOOS, runtime.GOARCH, Usable(), strings.Join(lines, "\n")), nil
}

// Environment are the variables that XLA reads and that change what it compiles.
func Environment() string {
	var out []string
	for _, name := range []string{"XLA_FLAGS", "NPROC"} {
		out = append(out, name+"="+os.Getenv(name))
	}
	return strings.Join(out, "\n")
}
