package resource

import (
	"context"
	"net/http"

	"sluice/internal/fault"
)

// maxLateAudits is how many refusals may be written to the trail at once after they were
// answered. One more is written by the call itself, which lasts until that is done.
const maxLateAudits = 64

// auditAfterwards adds the row of a refused public operation once its answer is on the
// way. Only what is somebody's leaves a row, so that the time of an answer in which it was
// written would tell strangers whom the gateway knows; the next answer on the connection
// would too, and so the call does not stay for it.
func (e *Engine) auditAfterwards(ctx context.Context, w http.ResponseWriter, c *Call, f *fault.Error) {
	_ = http.NewResponseController(w).Flush() // the client may have left; a writer that cannot flush sends when the call ends
	if !e.after.TryAcquire(1) {
		e.auditFailure(ctx, c, f)
		return
	}
	go func() {
		defer e.after.Release(1)
		e.auditFailure(ctx, c, f)
	}()
}

// Await waits until the trail has what was answered before it was written: for the end of
// the program, once it takes no more calls. The error is that of ctx.
func (e *Engine) Await(ctx context.Context) error {
	if err := e.after.Acquire(ctx, maxLateAudits); err != nil {
		return err
	}
	e.after.Release(maxLateAudits)
	return nil
}
