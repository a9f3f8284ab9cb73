package layer

import "time"

// The kernel knows GoNB in few places: its arguments and its timing in this file, the programs that it runs in
// build/scripts.go, its special lines in cells/magic.go, and the text that it takes for positions in wrapper/filter.go.
// TestGoNB compares them to the pinned version of GoNB, and names what another version has changed.

// GoNBVersion is the version of GoNB that these files were written for.
const GoNBVersion = "0.11.4"

// GoNBArguments returns the command line of GoNB, without its program name and -kernel. With it, GoNB compiles cells in
// a workspace with the module in dir, shows compiler errors unchanged, and writes its log to the folder log instead of
// Jupyter's terminal.
func GoNBArguments(dir, log string) []string {
	return []string{"-go_work=" + dir, "-raw_error", "-logtostderr=false", "-stderrthreshold=FATAL", "-log_dir=" + log}
}

// probe is the type of a request that GoNB answers at once and without effect.
const probe = "kernel_info_request"

// settle is the time after a question within which GoNB registers its sender. It sends the question first (PromptInput
// in its internal/kernel/messages.go) and loses an answer that arrives before the registration: the cell would wait
// forever.
const settle = 250 * time.Millisecond

// gonbTarget is the target of the comm that a page opens to GoNB.
const gonbTarget = "gonb_comm"
