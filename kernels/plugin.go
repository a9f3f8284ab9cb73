package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// plugin is a PJRT plugin of XLA from a Python wheel. The wheel is only the package of a shared library; Python does
// not run it.
type plugin struct {
	item
	device string // "cpu" or "cuda", as backend.PluginFile spells it
	file   string // path of the library in the item's folder
	beside string // a folder of the item that the library expects at ../NAME, or ""
}

// pluginWheels has the wheels of both plugins.
var pluginWheels = []plugin{
	{
		item:   item{name: "xla", pins: "kernels/requirements-xla.txt"},
		device: "cpu",
		file:   "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
	},
	{
		item:   item{name: "cuda", pins: "kernels/requirements-cuda.txt"},
		device: "cuda",
		file:   "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
		beside: "nvidia", // The library's run path has $ORIGIN/../nvidia/cu13/lib and $ORIGIN/../nvidia/cudnn/lib.
	},
}

// pluginsFor returns the plugins to install on this machine.
func pluginsFor(k kit, cuda bool) ([]plugin, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		say("there is no pinned XLA plugin for %s/%s, only for linux/amd64: programs use the backend go", runtime.GOOS,
			runtime.GOARCH)
		return nil, nil
	}
	var list []plugin
	for _, p := range pluginWheels {
		if p.device == "cuda" && !cuda {
			continue
		}
		requirements := p.pins
		pins, err := k.repo.read(requirements)
		if err != nil {
			return nil, err
		}
		p.pins = string(pins)
		p.build = func(ctx context.Context, dir, _ string) error {
			install := pip(ctx, k.python(), "install", "--no-deps", "--no-compile", "--no-cache-dir", "--target", dir,
				"-r", k.repo.path(filepath.FromSlash(requirements)))
			return step(ctx, fmt.Sprintf("installing XLA's plugin for %s", p.device), install, wheels(pins))
		}
		list = append(list, p)
	}
	return list, nil
}

// links maps the paths of the plugin's links in the store to their targets: the library, under the name that package
// backend expects, and the folder that the library expects.
func (p plugin) links(s store) map[string]string {
	dir := s.dir(p.item)
	links := map[string]string{s.path("pjrt", backend.PluginFile(p.device)): filepath.Join(dir,
		filepath.FromSlash(p.file))}
	if p.beside != "" {
		links[s.path(p.beside)] = filepath.Join(dir, p.beside)
	}
	return links
}

// linked reports whether the plugin is installed and linked.
func (p plugin) linked(s store) bool {
	for at, target := range p.links(s) {
		there, err := os.Stat(at)
		wanted, err2 := os.Stat(target)
		if err != nil || err2 != nil || !os.SameFile(there, wanted) {
			return false
		}
	}
	return true
}

// ensure installs and links the plugin.
func (p plugin) ensure(ctx context.Context, s store) error {
	if err := s.ensure(ctx, p.item); err != nil {
		return err
	}
	for at, target := range p.links(s) {
		if err := link(target, at); err != nil {
			return err
		}
	}
	return nil
}
