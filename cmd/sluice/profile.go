package main

import (
	"errors"
	"os"
	"runtime/pprof"
)

// profiling writes where processor time goes into a file, for `go tool pprof` and for
// `make profile`, until the function it returns is called. No file, no profile.
func profiling(file string) (stop func() error, err error) {
	if file == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
