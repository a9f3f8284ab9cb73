package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

func setupCommand() *cobra.Command {
	var cuda bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Install JupyterLab, the Go kernel and XLA's plugin into a folder of your own cache",
		Long: "Installs everything that the notebooks need, at pinned versions, into a folder of your own cache\n" +
			"(~/.cache/hypermodels on Linux, or $HYPERMODELS_HOME): JupyterLab in a Python environment, XLA's plugin, and\n" +
			"GoNB with goimports and gopls. It also compiles the packages that cells import. It does not change parts that\n" +
			"are installed already.",
		Args: bad(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := setup(cmd.Context(), cuda)
			if err == nil {
				say("ready, in %s", k.store)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&cuda, "cuda", false, "also install XLA's CUDA plugin and NVIDIA's libraries (about 4 GB)")
	return cmd
}

// kit is the result of a setup for a checkout.
type kit struct {
	home  module // the module of the notebooks
	repo  checkout
	store store
	venv  string // the Python environment's folder
	tools string // the folder with gonb, goimports and gopls
}

func (k kit) python() string { return venvPython(k.venv) }

// setup installs everything. Parts that are installed already take almost no time.
func setup(ctx context.Context, cuda bool) (kit, error) {
	began := time.Now()
	s, err := openStore()
	if err != nil {
		return kit{}, err
	}
	k, items, plugins, err := wanted(ctx, s, cuda)
	if err != nil {
		return kit{}, err
	}
	if err := k.install(ctx, items, plugins); err != nil {
		return kit{}, err
	}
	if spent := time.Since(began); spent > 5*time.Second {
		say("setup took %.0f s", spent.Seconds())
	}
	return k, nil
}

// wanted returns the parts that setup installs.
func wanted(ctx context.Context, s store, cuda bool) (k kit, items []item, plugins []plugin, err error) {
	k.store = s
	if k.home, k.repo, err = anywhere(); err != nil {
		return k, nil, nil, err
	}
	py, err := findPython(ctx)
	if err != nil {
		return k, nil, nil, err
	}
	g, err := findGo(ctx)
	if err != nil {
		return k, nil, nil, err
	}
	venv, err := venvItem(k.repo, py)
	if err != nil {
		return k, nil, nil, err
	}
	tools, err := toolsItem(k.repo, g)
	if err != nil {
		return k, nil, nil, err
	}
	k.venv, k.tools = s.dir(venv), s.dir(tools)
	if plugins, err = pluginsFor(k, cuda); err != nil {
		return k, nil, nil, err
	}
	warm, err := k.warmItem(g)
	return k, []item{launcherItem(), venv, tools, warm}, plugins, err
}

// install makes missing parts under the store's lock. If nothing is missing, it does not wait for another setup.
func (k kit) install(ctx context.Context, items []item, plugins []plugin) error {
	if k.store.complete(items, plugins) {
		return k.configureJupyter()
	}
	unlock, err := k.store.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, it := range items {
		if err := k.store.ensure(ctx, it); err != nil {
			return err
		}
	}
	for _, p := range plugins {
		if err := p.ensure(ctx, k.store); err != nil {
			return err
		}
	}
	return k.configureJupyter()
}

// complete reports whether everything is installed.
func (s store) complete(items []item, plugins []plugin) bool {
	return !slices.ContainsFunc(items, func(it item) bool { return !s.has(it) }) &&
		!slices.ContainsFunc(plugins, func(p plugin) bool { return !p.linked(s) })
}
