// Command bench compares what a request costs through Sluice with what it costs
// through nginx and without anything between: interleaved rounds on the loopback
// interface, one scenario after the other. docs/benchmarks.md says how to read it.
//
//	go -C test run ./bench --only chat-1k-c64,stream-burst-c16
//	go -C test run ./bench --quick
//
// It fails when a request was lost, doubled, answered wrongly or left unrecorded;
// missing an aim of speed only shows in the report.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sluice/test/bench/report"
)

// flags are what a caller may choose.
type flags struct {
	sluice    string
	out       string
	markdown  string
	only      string
	quick     bool
	list      bool
	rounds    int
	length    time.Duration
	timeLimit time.Duration
}

func readFlags() flags {
	var f flags
	set := flag.NewFlagSet("bench", flag.ExitOnError) // flag.CommandLine has those of test libraries too
	set.StringVar(&f.sluice, "sluice", "../bin/sluice", "program to measure")
	set.StringVar(&f.out, "out", "../bin/bench.json", "file for the results, JSON; empty for none")
	set.StringVar(&f.markdown, "markdown", "", "page to put the results in, between its marks; - prints them")
	set.StringVar(&f.only, "only", "", "scenarios to run, comma separated; all when empty")
	set.BoolVar(&f.quick, "quick", false, "one short round of everything, for a look in about a minute")
	set.BoolVar(&f.list, "list", false, "list the scenarios")
	set.IntVar(&f.rounds, "rounds", 5, "rounds of each target")
	set.DurationVar(&f.length, "length", 3*time.Second, "length of a round")
	set.DurationVar(&f.timeLimit, "max", 30*time.Minute, "most time for everything; what does not fit is left out")
	_ = set.Parse(os.Args[1:]) // ends the program when it cannot
	if f.quick {
		f.rounds, f.length = 1, 800*time.Millisecond
	}
	return f
}

func main() {
	f := readFlags()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

var errWrong = errors.New("requests were lost, doubled, answered wrongly or left unrecorded: see above")

func run(ctx context.Context, f flags) error {
	chosen, err := choose(scenarios(), f.only)
	if err != nil {
		return err
	}
	if f.list {
		for _, s := range chosen {
			fmt.Printf("%-20s %s\n", s.name, s.title)
		}
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, f.timeLimit)
	defer stop()
	b, err := prepare(ctx, f)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	res, err := b.all(ctx, chosen)
	if err := errors.Join(err, publish(f, res)); err != nil {
		return err
	}
	if res.Failed() {
		return errWrong
	}
	return nil
}

// choose picks scenarios by name, in their own order.
func choose(all []*scenario, only string) ([]*scenario, error) {
	if only == "" {
		return all, nil
	}
	requested := map[string]bool{}
	for name := range strings.SplitSeq(only, ",") {
		requested[strings.TrimSpace(name)] = true
	}
	var chosen []*scenario
	for _, s := range all {
		if requested[s.name] {
			chosen = append(chosen, s)
			delete(requested, s.name)
		}
	}
	for name := range requested {
		return nil, fmt.Errorf("unknown scenario %q; run with --list to see them", name)
	}
	return chosen, nil
}

// publish writes the results where they were asked for.
func publish(f flags, res *report.Result) error {
	if err := res.WriteAims(os.Stdout); err != nil {
		return err
	}
	var errs []error
	if f.out != "" {
		text, err := json.MarshalIndent(res, "", "  ")
		errs = append(errs, err, os.MkdirAll(filepath.Dir(f.out), 0o755), os.WriteFile(f.out, append(text, '\n'), 0o644))
	}
	switch f.markdown {
	case "":
	case "-":
		errs = append(errs, res.WriteMarkdown(os.Stdout))
	default:
		errs = append(errs, res.Replace(f.markdown))
	}
	return errors.Join(errs...)
}
