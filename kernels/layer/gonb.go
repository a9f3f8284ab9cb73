package layer

import (
	"time"
)

// This file has all that the layer knows about GoNB: the form of its output, its arguments, and the programs that it
// runs. TestGoNB compares this file to the pinned version of GoNB, and names what another version has changed.

// GoNBVersion is the version of GoNB that this file was written for.
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
