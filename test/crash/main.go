// Command crash kills the gateway, without a warning and under load, some hundred times,
// and holds after each restart what the administration says against what the upstream
// really served. docs/crash.md tells what is checked and what came out.
//
//	go -C test run ./crash
//	go -C test run ./crash --engines sqlite --runs 20 --seed 7
//
// The first difference ends the campaign: it is printed with the seed, and the data stay
// where they are.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// flags are what a caller may choose.
type flags struct {
	sluice  string
	engines string
	runs    int
	seed    uint64
}

func readFlags() flags {
	var f flags
	set := flag.NewFlagSet("crash", flag.ExitOnError) // flag.CommandLine has those of test libraries too
	set.StringVar(&f.sluice, "sluice", "../bin/sluice", "program to kill")
	set.StringVar(&f.engines, "engines", sqlite+","+postgres, "databases of the control plane, comma separated; each has a campaign of its own, side by side")
	set.IntVar(&f.runs, "runs", 250, "kills in each campaign")
	set.Uint64Var(&f.seed, "seed", uint64(time.Now().UnixNano()), "decides what happens when; a run is repeated as well as the machine repeats it")
	_ = set.Parse(os.Args[1:]) // ends the program when it cannot
	return f
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, readFlags()); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		stop()
		os.Exit(1)
	}
}

// run has all campaigns at once: most of the time of each is waiting.
func run(ctx context.Context, f flags) error {
	var (
		all  []*campaign
		errs []error
	)
	for engine := range strings.SplitSeq(f.engines, ",") {
		c, err := prepare(ctx, options{program: f.sluice, engine: strings.TrimSpace(engine), runs: f.runs, seed: f.seed, progress: os.Stdout})
		if err != nil {
			errs = append(errs, err)
			break
		}
		all = append(all, c)
	}
	if len(errs) == 0 {
		errs = runAll(ctx, all)
	}
	for _, c := range all {
		fmt.Println(c.tally.String())
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

func runAll(ctx context.Context, all []*campaign) []error {
	errs := make([]error, len(all))
	var work sync.WaitGroup
	for i, c := range all {
		work.Go(func() {
			if errs[i] = c.run(ctx); errs[i] != nil {
				fmt.Println(errs[i]) // the others may go on for long
			}
		})
	}
	work.Wait()
	return errs
}
