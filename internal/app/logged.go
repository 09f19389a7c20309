//go:build !unlogged

package app

import "context"

// runIngest copies records from the journal to the request log. The build decides that, so that
// no setting of the product can turn it off.
func (a *requestLog) runIngest(ctx context.Context) error { return a.logs.Run(ctx) }
