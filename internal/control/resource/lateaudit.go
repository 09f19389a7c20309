package resource

import (
	"context"
	"net/http"

	"sluice/internal/kernel/fault"
)

// maxLateAudits is how many errors may be audited at the same time after their responses. Beyond
// that, the call itself writes the row and lasts until that is done.
const maxLateAudits = 64

// auditAfterwards adds the row of a rejected public operation after the response is sent. Only
// calls of known accounts leave a row, so a response delayed by the write would reveal to
// strangers which accounts exist. The next response on the connection would reveal it too, so
// the call does not wait for the row.
func (e *Engine) auditAfterwards(ctx context.Context, w http.ResponseWriter, c *Call, f *fault.Error) {
	_ = http.NewResponseController(w).Flush() // the client may have disconnected; a writer that cannot flush sends when the call ends
	if !e.after.TryAcquire(1) {
		e.auditFailure(ctx, c, f)
		return
	}
	go func() {
		defer e.after.Release(1)
		e.auditFailure(ctx, c, f)
	}()
}

// Await waits until the trail contains the rows of all responses that were sent before their
// row. It is for shutdown, after the program has stopped accepting calls. The error is that of
// ctx.
func (e *Engine) Await(ctx context.Context) error {
	if err := e.after.Acquire(ctx, maxLateAudits); err != nil {
		return err
	}
	e.after.Release(maxLateAudits)
	return nil
}
