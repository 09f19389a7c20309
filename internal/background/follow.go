package background

import (
	"context"
	"time"
)

// How Follow goes on after a failure, and Finish at the end.
const (
	firstPause  = time.Second
	lastPause   = 30 * time.Second
	finishLimit = 5 * time.Second
)

// RunWithBackoff runs work, which is to go on until ctx ends, and again whenever it fails, until
// ctx ends. Between two runs is a pause, of a second at first and twice as long each time,
// up to 30 seconds; where done, which counts what work has achieved, grew meanwhile, it is
// a second again. failed is told of each failure and of the pause behind it; that ctx ended
// is none.
func RunWithBackoff(ctx context.Context, work func(context.Context) error, done func() uint64, failed func(err error, pause time.Duration)) {
	pause := firstPause
	for {
		before := done()
		err := work(ctx)
		if ctx.Err() != nil {
			return
		}
		if done() > before {
			pause = firstPause
		}
		failed(err, pause)
		_ = Sleep(ctx, pause) // it ends with ctx, which work sees
		pause = min(2*pause, lastPause)
	}
}

// RunFinal runs the last of some work when ctx has ended, with a context that lasts five
// seconds. That these were not enough is no error.
func RunFinal(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishLimit)
	defer cancel()
	if err := work(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
