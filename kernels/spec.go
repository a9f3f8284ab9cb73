package main

import (
	"encoding/json"
	"path/filepath"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// kernelSpec is the content of a kernel.json.
type kernelSpec struct {
	Argv      []string          `json:"argv"`
	Name      string            `json:"display_name"`
	Language  string            `json:"language"`
	Interrupt string            `json:"interrupt_mode"`
	Env       map[string]string `json:"env,omitempty"`
}

// cudaKernelName is the name of the kernel whose cells use XLA's CUDA plugin by default.
const cudaKernelName = kernelName + "-cuda"

// spec returns the description of a kernel for a Jupyter outside this project.
func (k kit) spec(name string, g goTool) kernelSpec {
	s := kernelSpec{
		Argv:      []string{"sh", k.repo.path("kernels", kernelName, "start.sh"), "{connection_file}"},
		Name:      "Go (hypermodels)",
		Language:  "go",
		Interrupt: "message",
		Env:       map[string]string{"HYPERMODELS_HOME": string(k.store), "HYPERMODELS_GO_DIR": filepath.Dir(g.path)},
	}
	if name == cudaKernelName {
		s.Name = "Go (hypermodels, CUDA)"
		s.Env["HYPER_BACKEND"] = backend.XLACUDA
	}
	return s
}

// specFiles returns the files of a kernel's folder.
func (k kit) specFiles(name string, g goTool) (map[string][]byte, error) {
	text, err := json.MarshalIndent(k.spec(name, g), "", "  ")
	if err != nil {
		return nil, err
	}
	logo, err := k.repo.read("kernels/" + kernelName + "/logo-svg.svg")
	return map[string][]byte{"kernel.json": append(text, '\n'), "logo-svg.svg": logo}, err
}
