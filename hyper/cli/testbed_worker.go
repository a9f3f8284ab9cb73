package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/testbed"
)

// worker returns the command line of a process that helps to evaluate an agent: see [testbedWorkerCommand].
func (f *testbedFlags) worker(a testbed.Agent, left testbed.Sweep) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	name := a.Name
	for _, file := range f.agents {
		if filepath.Ext(file) == ".json" && ownName(file) == name {
			name = file
		}
	}
	text, err := json.Marshal(workerJob{Agent: name, Sweep: left, Steps: f.steps, Options: f.options})
	return []string{self, "testbed-worker", string(text)}, err
}

// workerJob tells worker processes which agent to evaluate, and on which sweep. Each process takes a share of the
// problems.
type workerJob struct {
	Agent   string // name or FILE.json
	Sweep   testbed.Sweep
	Steps   int
	Options testbed.Options
}

// testbedWorkerCommand returns the command of a process that evaluates an agent on problems for hyper testbed.
func testbedWorkerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "testbed-worker JOB SHARE",
		Short:  "Evaluate an agent on problems for a `hyper testbed` that started this process",
		Hidden: true,
		PreRun: printToStderr,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errors.New("testbed-worker takes a job and a share of the cores")
			}
			var job workerJob
			if err := json.Unmarshal([]byte(args[0]), &job); err != nil {
				return err
			}
			f := testbedFlags{steps: job.Steps}
			a, err := f.agent(job.Sweep, job.Agent)
			if err != nil {
				return err
			}
			// The parent prints the error.
			_ = testbed.Worker(c.Context(), os.Stdin, c.OutOrStdout(), a, job.Sweep, job.Options, args[1])
			return nil
		},
	}
}
