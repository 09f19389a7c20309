//go:build !unlogged

package app

import "context"

// runIngest takes records over from the journal into the request log. That it does is a
// matter of the build, so that no setting of the product can turn it off.
func (a *App) runIngest(ctx context.Context) error { return a.logs.Run(ctx) }
