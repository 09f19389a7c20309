package modellist

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// Run reads the lists that Names queues until ctx ends. It returns nil.
func (l *Lists) Run(ctx context.Context) error {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case e := <-l.queue:
					l.refresh(ctx, e)
				}
			}
		})
	}
	group.Wait()
	return nil
}

// refresh reads one list. A list that cannot be read stays as it was.
func (l *Lists) refresh(ctx context.Context, e *entry) {
	l.mu.Lock()
	source, dropped := e.source, l.known[e.source.ID] != e
	l.mu.Unlock()
	if dropped {
		return
	}
	limited, cancel := context.WithTimeout(ctx, l.set.Timeout)
	defer cancel()
	names, err := l.read(limited, source)
	if ctx.Err() != nil {
		return // the program stops
	}
	names = limitNames(names)
	l.mu.Lock()
	failed, restored := err != nil && !e.failing, err == nil && e.failing
	e.failing, e.queued, e.readAt = err != nil, false, l.set.Clock.Now()
	if err == nil {
		e.names = names
	}
	models := len(e.names)
	l.mu.Unlock()
	e.timer.Stop()
	e.closeOnce()
	attrs := []any{"provider", "@" + source.Provider, "workspace", source.Workspace, "models", models}
	switch {
	case failed:
		l.set.Log.Warn("cannot read the model list of a provider; using the previous list", append(attrs, "error", err.Error())...)
	case restored:
		l.set.Log.Info("model list of a provider restored", attrs...)
	}
}

// read calls the reader, whose panic is a failure like any other.
func (l *Lists) read(ctx context.Context, s Source) (names []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			l.set.Log.Error("panic while reading a model list", "provider", "@"+s.Provider, "error", fmt.Sprint(p), "stack", string(debug.Stack()))
			names, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return l.set.Read(ctx, s)
}
