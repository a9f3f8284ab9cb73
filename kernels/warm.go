package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// around returns the module that the cells of a notebook in dir import: the checkout around dir, or the module around
// dir that requires this project; else these files.
func (repo checkout) around(dir string) string {
	if m, err := findModule(dir); err == nil {
		return m.dir
	}
	return string(repo)
}

// warmItem compiles the packages that cells import, so that the first cell takes a second instead of a minute. It is
// done once for each set of dependencies. If a checkout does not compile, there is no error here, because a cell
// reports it when it matters. A lack of network or disk space is no error either; the next setup tries again.
func (k kit) warmItem(g goTool) (item, error) {
	pins, err := k.repo.read("go.mod", "go.sum")
	if err != nil {
		return item{}, err
	}
	build := func(ctx context.Context, dir, _ string) error {
		err := k.compile(ctx, g, dir)
		if err != nil && ctx.Err() == nil {
			say("the checkout was not compiled; cells that import it must compile it, or fail: %v", err)
			return errLater
		}
		return err
	}
	return item{name: "warm", pins: strings.Join([]string{string(pins), g.version, g.cache, cellFlags()}, "\n"),
		build: build}, nil
}

// compile builds the project's libraries in a separate workspace in dir, as GoNB does.
func (k kit) compile(ctx context.Context, g goTool, dir string) error {
	init := exec.CommandContext(ctx, g.path, "work", "init", string(k.repo))
	init.Dir = dir
	init.Env = goEnv("GOWORK=")
	if out, err := init.CombinedOutput(); err != nil {
		return fmt.Errorf("go work init: %w: %s", err, out)
	}
	env := goEnv("GOWORK="+filepath.Join(dir, "go.work"), "GOFLAGS="+cellFlags())
	return g.build(ctx, "the packages that cells import", string(k.repo), "", env, modulePath+"/hyper/...")
}
