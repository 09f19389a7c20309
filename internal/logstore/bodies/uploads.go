package bodies

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// uploads are those since the last Flush. The zero value is ready; it belongs to one
// goroutine.
type uploads struct {
	group *errgroup.Group // nil while there are none
	begin func(key string, data []byte)
	stop  context.CancelFunc
}

// put stores an object while further ones are filled. It waits while as many as may be
// are under way.
func (u *uploads) put(ctx context.Context, o *ObjectOptions, key string, data []byte) {
	if u.group == nil {
		ctx, u.stop = context.WithCancel(ctx)
		u.group, ctx = errgroup.WithContext(ctx)
		u.group.SetLimit(o.Uploads)
		u.begin = func(key string, data []byte) {
			u.group.Go(func() error { return o.Bucket.Put(ctx, key, data) })
		}
	}
	u.begin(key, data)
}

// wait returns when all have ended, with the first error.
func (u *uploads) wait() error {
	if u.group == nil {
		return nil
	}
	err := u.group.Wait()
	u.stop()
	*u = uploads{}
	return err
}

// cancel gives up all of them and waits for their end: what failed is done again.
func (u *uploads) cancel() {
	if u.group != nil {
		u.stop()
		_ = u.wait() // nobody counts on them
	}
}
