package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"unicode"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
)

// Task describes the resources that a scheduler gives to each shard.
type Task struct {
	// Command is a command line that runs a shard. The sweep's folder and the shard's number are appended to it.
	Command  []string
	CPUs     int
	Memory   string // such as 2G or 2Gi; "" is the scheduler's default
	Parallel int    // number of shards at once; 0 means as many as the scheduler can start
	Retries  int    // number of retries of a shard that failed; interrupted shards always continue
}

// Slurm runs the shards of a sweep as a job array. A task that is killed or fails is requeued. A task that is
// preempted, or is near its time limit, gets SIGTERM, saves, and is requeued.
type Slurm struct {
	Task
	Time    string   // time limit of a task, in the form of sbatch; "" is the partition's limit
	Options []string // options of sbatch, such as --partition=night
}

// slurmGrace is the time in seconds that a task has to save before its limit.
const slurmGrace = 60

var slurmScript = template.Must(template.New("slurm").Funcs(template.FuncMap{"quote": shell.Word}).Parse(`#!/bin/bash
# Runs shards of the sweep in {{.Dir}}. Each task of the array runs one shard.
#SBATCH --job-name={{.Name}}
#SBATCH --array={{.Array}}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={{.CPUs}}
{{- if .Memory}}
#SBATCH --mem={{.Memory}}
{{- end}}
{{- if .Time}}
#SBATCH --time={{.Time}}
{{- end}}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=TERM@{{.Grace}}
#SBATCH --output={{.Dir}}/log/%a.txt
{{- range .Options}}
#SBATCH {{.}}
{{- end}}

requeue() {
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
	sleep 60 # Slurm ends this script
	exit 1
}

srun --ntasks=1 --cpus-per-task={{.CPUs}}{{range .Command}} {{quote .}}{{end}} {{quote .Dir}} "$SLURM_ARRAY_TASK_ID"
status=$?
case $status in
0 | 2) exit $status ;; # done, or cannot be done
130 | 143) requeue ;;  # interrupted, and saved
esac
# failed, or killed
[ "${SLURM_RESTART_COUNT:-0}" -ge {{.Retries}} ] || requeue
exit $status
`))

// Script returns the batch script for some shards. dir is the sweep's folder as the nodes see it.
func (s Slurm) Script(dir string, shards []int) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if strings.ContainsFunc(dir, endsOption) || strings.ContainsAny(dir, "%\\#'\"") {
		return "", fmt.Errorf("%q: sbatch does not accept a folder with spaces, %%, #, quotes or backslashes", dir)
	}
	for name, value := range map[string]string{"memory": s.Memory, "time": s.Time} {
		if strings.ContainsFunc(value, endsOption) || strings.Contains(value, "#") {
			return "", fmt.Errorf("the %s %q must be one word", name, value)
		}
	}
	for _, option := range s.Options {
		if !strings.HasPrefix(option, "-") || strings.ContainsFunc(option, unicode.IsControl) {
			return "", fmt.Errorf("%q is not an option of sbatch on one line, such as --partition=night", option)
		}
	}
	array := Ranges(shards)
	if s.Parallel > 0 {
		array += fmt.Sprint("%", s.Parallel)
	}
	var out bytes.Buffer
	err = slurmScript.Execute(&out, struct {
		Slurm
		Dir, Name, Array string
		Grace            int
	}{s, dir, "hyper-" + filepath.Base(dir), array, slurmGrace})
	return out.String(), err
}

// endsOption reports whether a character would end the value of an option in a line of #SBATCH.
func endsOption(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// Due returns the shards that a job array must run: the shards that are neither done, nor running, nor in the queue. If
// this machine has no Slurm, the queue counts as empty.
func (s Slurm) Due(p Plan, dir string) ([]int, error) {
	if err := p.mayRun(); err != nil {
		return nil, err
	}
	states, err := p.States(dir)
	if err != nil {
		return nil, err
	}
	queued := queued(dir)
	var due []int
	for _, s := range states {
		if s.State != Done && s.State != Running && !slices.Contains(queued, s.Shard) {
			due = append(due, s.Shard)
		}
	}
	return due, nil
}

// queued returns the shards of earlier submissions that are still in the queue.
func queued(dir string) []int {
	var out []int
	scripts, _ := filepath.Glob(filepath.Join(dir, "slurm-*.sh"))
	for _, path := range scripts {
		job := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "slurm-"), ".sh")
		said, err := exec.Command("squeue", "--noheader", "--array", "--format=%K", "--jobs="+job).Output()
		if err != nil { // the job ended long ago
			continue
		}
		for word := range strings.FieldsSeq(string(said)) {
			if n, err := strconv.Atoi(word); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// Submit gives shards to sbatch, and returns the number of the job. It keeps the script in the folder as slurm-JOB.sh.
func (s Slurm) Submit(ctx context.Context, dir string, shards []int) (job string, err error) {
	script, err := s.Script(dir, shards)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(dir, "log"), 0o755); err != nil { // without the folder Slurm writes no output
		return "", err
	}
	c := exec.CommandContext(ctx, "sbatch", "--parsable")
	c.Stdin = strings.NewReader(script)
	said, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("sbatch: %s", strings.TrimSpace(string(exit.Stderr)))
	} else if err != nil {
		return "", fmt.Errorf("%w: print the script with --dry-run, and submit it on another machine", err)
	}
	job, _, _ = strings.Cut(strings.TrimSpace(string(said)), ";")
	return job, saved.WriteFile(filepath.Join(dir, "slurm-"+job+".sh"), []byte(script))
}
