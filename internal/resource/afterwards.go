package resource

import (
	"context"
	"net/http"
	"sync"

	"sluice/internal/fault"
)

// mostAfterwards is how many refusals may be written to the trail at once after they were
// answered. One more is written by the call itself, which lasts until that is done.
const mostAfterwards = 64

// afterwards counts what goes on after its call was answered. The zero value is ready.
// Safe for concurrent use.
type afterwards struct {
	mu   sync.Mutex // guards what follows
	open int
	none chan struct{} // closed when open comes to 0
}

// begin reports whether one more may go on; end must follow.
func (a *afterwards) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == mostAfterwards {
		return false
	}
	if a.open == 0 {
		a.none = make(chan struct{})
	}
	a.open++
	return true
}

func (a *afterwards) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open--; a.open == 0 {
		close(a.none)
	}
}

// await waits until nothing goes on.
func (a *afterwards) await(ctx context.Context) error {
	a.mu.Lock()
	none := a.none
	a.mu.Unlock()
	if none == nil { // nothing ever began
		return nil
	}
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// auditAfterwards adds the row of a refused public operation once its answer is on the
// way. Only what is somebody's leaves a row, so that the time of an answer in which it was
// written would tell strangers whom the gateway knows; the next answer on the connection
// would too, and so the call does not stay for it.
func (e *Engine) auditAfterwards(ctx context.Context, w http.ResponseWriter, c *Call, f *fault.Error) {
	_ = http.NewResponseController(w).Flush() // the client may have left; a writer that cannot flush sends when the call ends
	if !e.after.begin() {
		e.auditFailure(ctx, c, f)
		return
	}
	go func() {
		defer e.after.end()
		e.auditFailure(ctx, c, f)
	}()
}

// Await waits until the trail has what was answered before it was written: for the end of
// the program, once it takes no more calls. The error is that of ctx.
func (e *Engine) Await(ctx context.Context) error { return e.after.await(ctx) }
