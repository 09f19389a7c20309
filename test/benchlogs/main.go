// Command benchlogs measures what model traffic feels of somebody who reads the request log
// all the time: rounds with a reader and two without take turns on one gateway, whose log has
// the traffic of before. What the two without differ by is what the machine differs by. In two
// more somebody computes who has nothing to do with the gateway: a program that only counts,
// which is the least that anything costs calls on their machine, and a reader of another
// gateway, which is what questions cost that are answered beside them.
//
//	go -C test run ./benchlogs --sluice ../bin/sluice
//
// It prints the latency of the calls of each set of rounds, the share of the machine that others
// took, the middle of the ratios, and whether the aim is met.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"sluice/internal/test/upstream/responder"
	"sluice/test/bench/load"
	"sluice/test/bench/proc"
	"sluice/test/bench/target"
)

// flags are what a caller may choose.
type flags struct {
	sluice  string
	rows    int
	rounds  int
	length  time.Duration
	rate    float64
	conns   int
	readers int
	delay   time.Duration
	limited bool
	ask     string
	count   time.Duration
}

func main() {
	var f flags
	set := flag.NewFlagSet("benchlogs", flag.ExitOnError) // flag.CommandLine has those of test libraries too
	set.StringVar(&f.sluice, "sluice", "../bin/sluice", "program to measure")
	set.IntVar(&f.rows, "rows", 100_000, "calls that the log has before the first round")
	set.IntVar(&f.rounds, "rounds", 6, "sets of rounds")
	set.DurationVar(&f.length, "length", 5*time.Second, "length of a round")
	set.Float64Var(&f.rate, "rate", 500, "calls a second")
	set.IntVar(&f.conns, "conns", 16, "connections of the callers, beside those that wait for the upstream")
	set.IntVar(&f.readers, "readers", 1, "readers, each of whom asks one question after the other")
	set.DurationVar(&f.delay, "delay", 0, "time that the upstream takes for an answer, as a model would")
	set.BoolVar(&f.limited, "limited", false, "the key of the readers has the limit that a gateway sets by default, which they keep to; without it they ask as fast as they are answered")
	set.StringVar(&f.ask, "ask", "", "be a reader of the gateway at this address, with the key in "+readerKey)
	set.DurationVar(&f.count, "count", 0, "count for as long as a question takes, again and again at this interval")
	_ = set.Parse(os.Args[1:]) // ends the program when it cannot
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	work := func() error { return run(ctx, f) }
	switch {
	case f.ask != "":
		work = func() error { return queryUntilInterrupted(ctx, f.ask, os.Getenv(readerKey)) }
	case f.count > 0:
		work = func() error { return countUntilInterrupted(ctx, f.count) }
	}
	err := work()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchlogs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) (err error) {
	dir, err := os.MkdirTemp("", "sluice-benchlogs-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := filepath.Abs(f.sluice)
	if err != nil {
		return err
	}
	path, err := target.BuildUpstream(ctx, dir)
	if err != nil {
		return err
	}
	up, err := target.StartUpstream(ctx, path, dir, target.Answers{Options: responder.Options{Delay: f.delay}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, up.Stop()) }()
	var settings []string
	if f.limited {
		settings = append(settings, "ADMIN_REQUESTS_PER_MINUTE=") // that is, the default
	}
	gate, err := target.StartSluice(ctx, program, dir, up, settings...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gate.Stop()) }()
	other, err := startOther(ctx, program, dir, up, settings...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, other.Stop()) }()
	for _, g := range []*target.Sluice{gate, other} {
		if err := fill(ctx, f, g); err != nil {
			return err
		}
	}
	b := &bench{f, gate, other, proc.Family{gate.PID, other.PID, up.PID}}
	return b.compare(ctx)
}

// startOther starts the gateway that answers questions and serves no calls, beyond those that
// fill its log. It gets the processor when nobody else wants it.
func startOther(ctx context.Context, program, dir string, up *target.Upstream, settings ...string) (*target.Sluice, error) {
	dir = filepath.Join(dir, "other")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	other, err := target.StartSluice(ctx, program, dir, up, settings...)
	if err != nil {
		return nil, err
	}
	if err := yieldAll(ctx, other.PID); err != nil {
		return nil, errors.Join(err, other.Stop())
	}
	return other, nil
}

// fillers is how many connections fill the log of a gateway whose upstream takes its time.
const fillers = 400

// fill puts rows into the log.
func fill(ctx context.Context, f flags, gate *target.Sluice) error {
	j := calls(f, gate)
	if f.delay > 0 {
		j.Conns = fillers
	}
	j.Rate, j.For, j.Each = 0, 0, f.rows/j.Conns
	if _, err := measure(ctx, j); err != nil {
		return fmt.Errorf("fill the log: %w", err)
	}
	return gate.AwaitIngest(ctx)
}

// calls are the load of a round.
func calls(f flags, gate *target.Sluice) load.Job {
	const body = `{"model":"bench","messages":[{"role":"system","content":"You answer in one sentence."},{"role":"user","content":"What is the tide at the lock today?"}]}`
	request := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"x-gateway-api-key: %s\r\nx-gateway-config: %s\r\nx-gateway-metadata: {\"_user\":\"alice\",\"team\":\"search\"}\r\n\r\n%s", gate.Addr, len(body), gate.Key, gate.Config, body)
	busy := int(2 * f.rate * f.delay.Seconds()) // with calls that wait for the upstream, and as many for bursts
	return load.Job{Addr: gate.Addr, Request: []byte(request), Conns: f.conns + busy, Unmeasured: 5, For: f.length, Rate: f.rate, Limit: f.length + 5*time.Minute}
}

func measure(ctx context.Context, j load.Job) (*load.Result, error) {
	fleet, err := load.Open(ctx, j)
	if err != nil {
		return nil, err
	}
	defer fleet.Close()
	res := fleet.Run(ctx)
	for what, n := range res.Failures {
		return nil, fmt.Errorf("%d of %d calls failed: %s", n, res.Unmeasured+res.Sent, what)
	}
	return res, nil
}
