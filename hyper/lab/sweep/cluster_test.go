package sweep_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
	"sigs.k8s.io/yaml"

	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

var task = sweep.Task{Command: []string{"/opt/it's/hyper", "shard"}, CPUs: 2, Memory: "2G", Parallel: 3, Retries: 5}

// The script is one that bash reads, with the options that were asked for.
func TestSlurmScript(t *testing.T) {
	s := sweep.Slurm{Task: task, Time: "1:00:00", Options: []string{"--partition=night"}}
	script, err := s.Script("/results/a", []int{0, 1, 2, 7})
	must.M(err)
	for _, want := range []string{"--array=0-2,7%3\n", "--cpus-per-task=2\n", "--mem=2G\n", "--time=1:00:00\n",
		"--partition=night\n", "--requeue\n", "--signal=TERM@60\n",
		"--output=/results/a/log/%a.txt\n", `'/opt/it'\''s/hyper' 'shard' '/results/a' "$SLURM_ARRAY_TASK_ID"`,
		"-ge 5 ]"} {
		if !strings.Contains(script, want) {
			t.Errorf("no %q in\n%s", want, script)
		}
	}
	if bash, err := exec.LookPath("bash"); err == nil {
		c := exec.Command(bash, "-n")
		c.Stdin = strings.NewReader(script)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("bash: %v\n%s", err, out)
		}
	}
	if _, err := s.Script("/a folder", nil); err == nil {
		t.Error("a folder with a space was taken")
	}
}

func manifest(t *testing.T) []byte {
	t.Helper()
	p, err := sweep.New(grid(t, 20), sweep.Options{Backend: "go", Shards: 6})
	must.M(err)
	k := sweep.Kubernetes{Task: task, Image: "hypermodels:1", Claim: "results", Mount: "/results",
		Dir: "/results/My Sweep_1", Namespace: "lab"}
	k.Memory = "2Gi"
	text, err := k.Manifest(p)
	must.M(err)
	return text
}

// The manifest has an index for each shard, and what makes a pod's end harmless.
func TestKubernetesManifest(t *testing.T) {
	var job struct {
		Metadata struct{ Name, Namespace string }
		Spec     struct {
			CompletionMode, PodReplacementPolicy           string
			Completions, Parallelism, BackoffLimitPerIndex int
			Template                                       struct {
				Spec struct {
					RestartPolicy string
					Containers    []struct{ Args []string }
				}
			}
		}
	}
	must.M(yaml.Unmarshal(manifest(t), &job))
	s := job.Spec
	if job.Metadata.Name != "hyper-my-sweep-1" || s.CompletionMode != "Indexed" || s.Completions != 6 ||
		s.Parallelism != 3 || s.BackoffLimitPerIndex != 5 ||
		s.PodReplacementPolicy != "Failed" || s.Template.Spec.RestartPolicy != "Never" ||
		strings.Join(s.Template.Spec.Containers[0].Args, "|") != "/opt/it's/hyper|shard|/results/My Sweep_1" {
		t.Errorf("%+v", job)
	}
	p, err := sweep.New(grid(t, 20), sweep.Options{Backend: "go"})
	must.M(err)
	for _, k := range []sweep.Kubernetes{{Image: "x", Mount: "/r", Dir: "/r/a"},
		{Image: "x", Claim: "c", Mount: "/r", Dir: "/s/a"}, {Image: "x", Claim: "c", Mount: "/r", Dir: "/r/"},
		{Claim: "c", Mount: "/r", Dir: "/r/a"}} {
		if _, err := k.Manifest(p); err == nil {
			t.Errorf("%+v was taken", k)
		}
	}
}

// kubectl-validate holds the manifest against the API's schema (names, types and required fields, as a server checks
// them) for the first version that has all of its fields, and a later one.
func TestKubernetesManifestBySchema(t *testing.T) {
	tool, err := exec.LookPath("kubectl-validate")
	if err != nil {
		t.Skip("no kubectl-validate; `go build -modfile=hyper/lab/sweep/testdata/tools.mod -o DIR/ " +
			"sigs.k8s.io/kubectl-validate` builds it in minutes; add DIR to PATH")
	}
	file := filepath.Join(t.TempDir(), "job.yaml")
	text := manifest(t)
	for _, version := range []string{"1.29", "1.30"} {
		must.M(os.WriteFile(file, text, 0o644))
		if out, err := exec.Command(tool, "--version", version, file).CombinedOutput(); err != nil {
			t.Errorf("version %s: %v\n%s", version, err, out)
		}
		for _, wrong := range []string{"completionMode", "podReplacementPolicy", "claimName",
			"terminationGracePeriodSeconds"} {
			must.M(os.WriteFile(file, []byte(strings.Replace(string(text), wrong, wrong+"s", 1)), 0o644))
			if out, err := exec.Command(tool, "--version", version, file).CombinedOutput(); err == nil {
				t.Errorf("version %s takes %ss:\n%s", version, wrong, out)
			}
		}
	}
}
