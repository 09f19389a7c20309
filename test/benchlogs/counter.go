package main

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/kernel/background"
)

// A question takes a processor for some 25 ms, and the limit of a key lets four be asked a
// second for as long as one likes.
const (
	answering = 25 * time.Millisecond
	interval  = time.Second / 4
)

// startCounter starts who counts all the time, or for as long as questions would take that
// come as often as the limit of a key lets them.
func startCounter(ctx context.Context, limited bool) (*companion, error) {
	if limited {
		return accompany(ctx, nil, "--count", interval.String())
	}
	return accompany(ctx, nil, "--count", answering.String())
}

// countUntilInterrupted takes the processor for as long as a question does, again and again at this
// interval, until it is interrupted. It uses no memory, no disk and no network, and prints
// that it asked nothing.
func countUntilInterrupted(ctx context.Context, every time.Duration) error {
	for ctx.Err() == nil {
		began := time.Now()
		for n := 0; n%1000 != 0 || time.Since(began) < answering; n++ {
		}
		_ = background.Sleep(ctx, every-time.Since(began)) // it ends with ctx, which is looked at next
	}
	fmt.Println(0)
	return nil
}
