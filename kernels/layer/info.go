package layer

import (
	"fmt"
	"runtime"
)

// kernelInfo returns the content of a kernel_info_reply.
func kernelInfo() map[string]any {
	return map[string]any{
		"status":                 "ok",
		"protocol_version":       protocolVersion,
		"implementation":         "go-hypermodels",
		"implementation_version": GoNBVersion,
		"banner":                 fmt.Sprintf("Go (hypermodels): GoNB with %s", runtime.Version()),
		"language_info":          LanguageInfo(),
		"debugger":               false, "supported_features": []string{},
		"help_links": []map[string]string{
			{"text": "Go", "url": "https://go.dev/doc"},
			{"text": "GoNB", "url": "https://github.com/janpfeifer/gonb"},
		},
	}
}

// languageVersion is the version of Go in cells, as in go.mod.
const languageVersion = "1.26"

// LanguageInfo returns the kernel's description of its language. JupyterLab writes it into each notebook that it opens,
// so it must be equal on all machines. Otherwise notebooks would differ according to the Go version of the user who
// saved them.
func LanguageInfo() map[string]string {
	return map[string]string{"name": "go", "version": languageVersion, "mimetype": "text/x-go",
		"file_extension": ".go", "pygments_lexer": "go", "codemirror_mode": "go", "nbconvert_exporter": ""}
}

// protocolVersion is the version of Jupyter's messaging protocol.
const protocolVersion = "5.4"
