package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilStopped ends with the first signal to stop: a terminal that closes sends one too,
// unless nohup was to keep the program from it. The second one ends the program at once, as
// if nobody listened for it: for whoever does not want to wait for running streams.
func untilStopped() context.Context {
	stops := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		stops = append(stops, syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, stops...)
	ctx, stop := context.WithCancel(context.Background())
	go func() { // until the program ends
		<-signals
		signal.Stop(signals)
		stop()
	}()
	return ctx
}
