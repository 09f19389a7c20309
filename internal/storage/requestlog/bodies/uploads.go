package bodies

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// uploads are the uploads since the last Flush. The zero value is ready to use; it belongs to one
// goroutine.
type uploads struct {
	group *errgroup.Group // nil while there are no uploads
	begin func(key string, data []byte)
	stop  context.CancelFunc
}

// put uploads an object while further ones are filled. It waits while the maximum number of
// uploads is in progress.
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

// wait returns when all uploads have ended, with the first error.
func (u *uploads) wait() error {
	if u.group == nil {
		return nil
	}
	err := u.group.Wait()
	u.stop()
	*u = uploads{}
	return err
}

// cancel cancels all uploads and waits for their end. Failed work is repeated later.
func (u *uploads) cancel() {
	if u.group != nil {
		u.stop()
		_ = u.wait() // their result is not needed
	}
}
