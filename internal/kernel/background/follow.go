package background

import (
	"context"
	"time"
)

// These are the pauses of RunWithBackoff and the timeout of RunFinal.
const (
	firstPause  = time.Second
	lastPause   = 30 * time.Second
	finishLimit = 5 * time.Second
)

// RunWithBackoff runs work, which should run until ctx ends, and runs it again whenever it
// fails, until ctx ends. The pause between two runs is one second at first and doubles each
// time, up to 30 seconds. It is one second again if done, which counts what work has achieved,
// has increased meanwhile. RunWithBackoff calls failed with each failure and the pause that
// follows it. The end of ctx is not a failure.
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
		_ = Sleep(ctx, pause) // ends with ctx, which work detects
		pause = min(2*pause, lastPause)
	}
}

// RunFinal runs the final work after ctx has ended, with a context that lasts five seconds.
// Running out of that time is not an error.
func RunFinal(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishLimit)
	defer cancel()
	if err := work(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
