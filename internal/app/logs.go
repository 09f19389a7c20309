package app

import (
	"fmt"
	"path/filepath"

	"sluice/internal/app/options"
	"sluice/internal/logstore"
	"sluice/internal/logstore/bodies"
	"sluice/internal/logstore/objects"
	"sluice/internal/provider/sign"
)

// openBodies opens the store of bodies: files, or a bucket together with older files from before
// the bucket was configured.
func (a *App) openBodies() (logstore.BodyStore, error) {
	dir := filepath.Join(a.set.Data.Dir, "logs", bodiesFolder(a.set))
	files, err := bodies.Open(bodies.Options{Dir: dir, Node: a.nodeName(), Clock: a.clock})
	if err != nil {
		return nil, fmt.Errorf("open stored bodies: %w", err)
	}
	if !a.set.LogStore.Remote() {
		a.closers = append(a.closers, files)
		return files, nil
	}
	a.bucket = objects.New(options.Bucket(a.set, sign.New(options.Sign(a.set, nil))))
	store := bodies.NewObjects(bodies.ObjectOptions{
		Dir: dir, Bucket: a.bucket, Node: a.nodeName(), Local: files, Format: bodies.Format(a.set.LogStore.Format), Slug: a.slugOf,
	})
	a.closers = append(a.closers, store)
	return store, nil
}

// slugOf returns the slug of a workspace; empty for an unknown workspace.
func (a *App) slugOf(workspaceID string) string {
	if s := a.directory.Current().FindWorkspace(workspaceID); s != nil {
		return s.Slug
	}
	return ""
}
