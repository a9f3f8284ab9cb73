package sweep

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// Kubernetes runs the shards of a sweep as an Indexed Job (batch/v1; Kubernetes 1.29 or later). Each pod runs the shard
// with the number of its index. A pod that fails is retried. A pod that is evicted or preempted saves and is replaced.
// A pod whose shard is done ends at once.
type Kubernetes struct {
	Task
	Image     string
	Claim     string // name of the PersistentVolumeClaim with the sweep's folder; many nodes must be able to write
	Mount     string // folder at which pods mount it
	Dir       string // the sweep's folder in the pods, below Mount
	Namespace string // "" is the namespace of kubectl's context
}

// kubernetesGrace is the time in seconds that a pod has to save.
const kubernetesGrace = 60

// Validate returns all faults.
func (k Kubernetes) Validate() error {
	var errs []error
	if k.Claim == "" {
		errs = append(errs, errors.New("kubernetes needs --claim: the PersistentVolumeClaim of the volume that "+
			"holds the sweep's folder"))
	}
	if k.Image == "" {
		errs = append(errs, errors.New("kubernetes needs --image: the image to run"))
	}
	if rest, below := strings.CutPrefix(k.Dir, strings.TrimSuffix(k.Mount, "/")+"/"); !below || rest == "" ||
		!filepath.IsAbs(k.Mount) {
		errs = append(errs, fmt.Errorf("the folder in the pods, %q, must be below the mount, %q", k.Dir, k.Mount))
	}
	return errors.Join(errs...)
}

// Manifest returns the Job of a sweep as YAML.
func (k Kubernetes) Manifest(p Plan) ([]byte, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	return yaml.Marshal(k.job(len(p.Shards)))
}

type fields = map[string]any

// job builds the Job object. It does not use the types of k8s.io/api, which would add twenty modules; a test checks the
// schema instead.
func (k Kubernetes) job(shards int) fields {
	name := jobName(strings.TrimPrefix(k.Dir, k.Mount))
	meta := fields{"name": name,
		"labels": fields{"app.kubernetes.io/name": "hyper", "app.kubernetes.io/instance": name}}
	if k.Namespace != "" {
		meta["namespace"] = k.Namespace
	}
	parallel := k.Parallel
	if parallel <= 0 {
		parallel = shards
	}
	return fields{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": meta,
		"spec": fields{
			"completionMode": "Indexed", "completions": shards, "parallelism": min(parallel, shards),
			"backoffLimitPerIndex": k.Retries, "podReplacementPolicy": "Failed", // never two pods for one shard
			"podFailurePolicy": fields{"rules": []fields{
				// the pod was evicted or preempted
				{"action": "Ignore", "onPodConditions": []fields{{"type": "DisruptionTarget", "status": "True"}}},
				// bad input, so a retry is useless
				{"action": "FailIndex", "onExitCodes": fields{"operator": "In", "values": []int{2}}},
			}},
			"template": fields{"metadata": fields{"labels": meta["labels"]}, "spec": k.pod()},
		},
	}
}

// The user and group of docker/Dockerfile, and the only folder besides volumes that its containers write to.
const (
	imageUser = 1000
	imageHome = "/home/hyper"
)

// pod returns the specification of a pod. It satisfies the Pod Security Standard "restricted", and its root is
// read-only.
func (k Kubernetes) pod() fields {
	resources := fields{"cpu": fmt.Sprint(k.CPUs)}
	if k.Memory != "" {
		resources["memory"] = k.Memory
	}
	container := fields{
		// the pod reads the shard's number from JOB_COMPLETION_INDEX
		"name": "shard", "image": k.Image, "args": append(append([]string{}, k.Command...), k.Dir),
		"env": []fields{{"name": "HYPER_JOB",
			"valueFrom": fields{"fieldRef": fields{"fieldPath": "metadata.name"}}}},
		"resources": fields{"requests": resources, "limits": resources},
		"volumeMounts": []fields{{"name": "results", "mountPath": k.Mount}, {"name": "home", "mountPath": imageHome},
			{"name": "tmp", "mountPath": "/tmp"}},
		"securityContext": fields{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
			"capabilities": fields{"drop": []string{"ALL"}}},
	}
	return fields{
		"restartPolicy": "Never", "terminationGracePeriodSeconds": kubernetesGrace,
		"automountServiceAccountToken": false,
		"securityContext": fields{"runAsNonRoot": true, "runAsUser": imageUser, "runAsGroup": imageUser,
			"fsGroup": imageUser, "fsGroupChangePolicy": "OnRootMismatch",
			"seccompProfile": fields{"type": "RuntimeDefault"}},
		"containers": []fields{container},
		"volumes": []fields{{"name": "results", "persistentVolumeClaim": fields{"claimName": k.Claim}},
			{"name": "home", "emptyDir": fields{}}, {"name": "tmp", "emptyDir": fields{}}},
	}
}

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// jobName returns the name of the Job of a folder. Kubernetes allows at most 52 lower-case letters, digits and dashes,
// because a pod's index needs eleven more characters. Of a longer name the end counts, where the round of a search is.
func jobName(folder string) string {
	name := strings.Trim(notName.ReplaceAllString(strings.ToLower(folder), "-"), "-")
	return strings.Trim("hyper-"+strings.TrimLeft(name[max(0, len(name)-46):], "-"), "-")
}
