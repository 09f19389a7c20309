package spend

import "context"

// CatchUp is one round of Run.
func (f *Follower) CatchUp(ctx context.Context) error { return f.catchUp(ctx) }
