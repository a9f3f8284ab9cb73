package sweep_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
	"sigs.k8s.io/yaml"

	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

var task = sweep.Task{Command: []string{"/opt/it's/hyper", "shard"}, CPUs: 2, Memory: "2G", Parallel: 3, Retries: 5}

// The script is a valid bash script with the requested options.
func TestSlurmScript(t *testing.T) {
	s := sweep.Slurm{Task: task, Time: "1:00:00", Options: []string{"--partition=night"}}
	script, err := s.Script("/results/a", []int{0, 1, 2, 7})
	must.M(err)
	for _, want := range []string{"--array=0-2,7%3\n", "--cpus-per-task=2\n", "--mem=2G\n", "--time=1:00:00\n",
		"--partition=night\n", "--requeue\n", "--signal=TERM@60\n",
		"--output=/results/a/log/%a.txt\n", `'/opt/it'\''s/hyper' shard /results/a "$SLURM_ARRAY_TASK_ID"`,
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
	for _, dir := range []string{"/a folder", "/a\n#SBATCH --uid=0", "/a#b", "/a'b", "/%a", "/a\x00b"} {
		if _, err := s.Script(dir, nil); err == nil {
			t.Errorf("the folder %q was taken", dir)
		}
	}
	for _, wrong := range []sweep.Slurm{
		{Task: sweep.Task{Memory: "2G\nrm -r /"}}, {Task: sweep.Task{Memory: "2G --wrap=x"}}, {Time: "1 --uid=0"},
		{Options: []string{"--comment=a\nrm -r /"}}, {Options: []string{"night"}}, {Options: []string{"--a\r--b"}},
	} {
		if _, err := wrong.Script("/results/a", nil); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
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

// The manifest has an index for each shard, and settings that make the end of a pod harmless.
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

// The pod satisfies the Pod Security Standard "restricted"
// (https://kubernetes.io/docs/concepts/security/pod-security-standards/), has no token for the cluster, and writes only
// to its volumes.
func TestKubernetesPodIsRestricted(t *testing.T) {
	type security struct {
		RunAsNonRoot, AllowPrivilegeEscalation, ReadOnlyRootFilesystem *bool
		RunAsUser, RunAsGroup, FSGroup                                 *int
		SeccompProfile                                                 struct{ Type string }
		Capabilities                                                   struct{ Add, Drop []string }
	}
	var job struct {
		Spec struct {
			Template struct {
				Spec struct {
					AutomountServiceAccountToken        *bool
					HostNetwork, HostPID, HostIPC       bool
					SecurityContext                     security
					InitContainers, EphemeralContainers []any
					Containers                          []struct {
						SecurityContext security
						VolumeMounts    []struct{ Name, MountPath string }
					}
					Volumes []map[string]any
				}
			}
		}
	}
	must.M(yaml.Unmarshal(manifest(t), &job))
	pod := job.Spec.Template.Spec
	is := func(p *bool, want bool) bool { return p != nil && *p == want }
	s := pod.SecurityContext
	user := func(p *int) bool { return p != nil && *p == 1000 }
	if !is(s.RunAsNonRoot, true) || !user(s.RunAsUser) || !user(s.RunAsGroup) || !user(s.FSGroup) ||
		s.SeccompProfile.Type != "RuntimeDefault" {
		t.Errorf("the pod: %+v", s)
	}
	if !is(pod.AutomountServiceAccountToken, false) || pod.HostNetwork || pod.HostPID || pod.HostIPC ||
		len(pod.InitContainers)+len(pod.EphemeralContainers) > 0 || len(pod.Containers) != 1 {
		t.Errorf("%+v", pod)
	}
	c := pod.Containers[0].SecurityContext
	if !is(c.AllowPrivilegeEscalation, false) || !is(c.ReadOnlyRootFilesystem, true) || len(c.Capabilities.Add) > 0 ||
		!slices.Equal(c.Capabilities.Drop, []string{"ALL"}) || c.RunAsNonRoot != nil {
		t.Errorf("the container: %+v", c)
	}
	allowed := []string{"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected",
		"secret"}
	for _, v := range pod.Volumes {
		for kind := range v {
			if kind != "name" && !slices.Contains(allowed, kind) {
				t.Errorf("a volume of kind %s", kind)
			}
		}
	}
	var mounts []string
	for _, m := range pod.Containers[0].VolumeMounts {
		mounts = append(mounts, m.MountPath)
	}
	if !slices.Equal(mounts, []string{"/results", "/home/hyper", "/tmp"}) {
		t.Errorf("mounts %v", mounts)
	}
}

// kubectl-validate compares the manifest with the API's schema (names, types and required fields, as a server checks
// them) for the first version that has all of its fields, and for a later version.
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
