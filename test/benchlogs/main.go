// Command benchlogs measures what model traffic feels of somebody who reads the request log
// all the time: rounds with and without a reader take turns on one gateway, whose log has the
// traffic of before.
//
//	go run ./test/benchlogs --sluice bin/sluice
//
// It prints the latency of the calls of each pair of rounds, and the middle of the ratios.
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

	"sluice/test/bench/load"
	"sluice/test/bench/stat"
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
}

func main() {
	var f flags
	flag.StringVar(&f.sluice, "sluice", "bin/sluice", "program to measure")
	flag.IntVar(&f.rows, "rows", 100_000, "calls that the log has before the first round")
	flag.IntVar(&f.rounds, "rounds", 10, "pairs of rounds")
	flag.DurationVar(&f.length, "length", 5*time.Second, "length of a round")
	flag.Float64Var(&f.rate, "rate", 500, "calls a second")
	flag.IntVar(&f.conns, "conns", 16, "connections of the callers")
	flag.IntVar(&f.readers, "readers", 1, "readers, each of whom asks one question after the other")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, f)
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
	up, err := target.StartUpstream(ctx, path, dir, target.Answers{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, up.Stop()) }()
	gate, err := target.StartSluice(ctx, program, dir, up)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gate.Stop()) }()
	if err := fill(ctx, f, gate); err != nil {
		return err
	}
	return compare(ctx, f, gate)
}

// fill puts rows into the log.
func fill(ctx context.Context, f flags, gate *target.Sluice) error {
	j := calls(f, gate)
	j.Rate, j.For, j.Each = 0, 0, f.rows/f.conns
	if _, err := measure(ctx, j); err != nil {
		return fmt.Errorf("fill the log: %w", err)
	}
	return gate.Settle(ctx)
}

// calls are the load of a round.
func calls(f flags, gate *target.Sluice) load.Job {
	const body = `{"model":"bench","messages":[{"role":"system","content":"You answer in one sentence."},{"role":"user","content":"What is the tide at the lock today?"}]}`
	request := fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"x-gateway-api-key: %s\r\nx-gateway-config: %s\r\nx-gateway-metadata: {\"_user\":\"alice\",\"team\":\"search\"}\r\n\r\n%s", gate.Addr, len(body), gate.Key, gate.Config, body)
	return load.Job{Addr: gate.Addr, Request: []byte(request), Conns: f.conns, Warm: 5, For: f.length, Rate: f.rate, Limit: f.length + 5*time.Minute}
}

func measure(ctx context.Context, j load.Job) (*load.Result, error) {
	fleet, err := load.Open(ctx, j)
	if err != nil {
		return nil, err
	}
	defer fleet.Close()
	res := fleet.Run(ctx)
	for what, n := range res.Failures {
		return nil, fmt.Errorf("%d of %d calls failed: %s", n, res.Warm+res.Sent, what)
	}
	return res, nil
}

// compare runs the pairs of rounds. Who goes first changes from pair to pair.
func compare(ctx context.Context, f flags, gate *target.Sluice) error {
	fmt.Println("| pair | p50 alone | p50 read | p99 alone | p99 read | questions |\n|---:|---:|---:|---:|---:|---:|")
	var alone, read [2][]float64 // at the median and the 99th percentile, ms
	for pair := range f.rounds {
		var asked int
		for i := range 2 {
			reading := (pair+i)%2 == 1
			var r *readers
			if reading {
				r = startReaders(ctx, f, gate)
			}
			res, err := measure(ctx, calls(f, gate))
			if reading {
				n, failed := r.stop()
				asked, err = n, errors.Join(err, failed)
			}
			if err != nil {
				return err
			}
			to := &alone
			if reading {
				to = &read
			}
			for k, q := range [...]float64{0.5, 0.99} {
				to[k] = append(to[k], float64(res.Latency.Quantile(q).Microseconds())/1000)
			}
		}
		fmt.Printf("| %d | %.2f | %.2f | %.2f | %.2f | %d |\n", pair+1, alone[0][pair], read[0][pair], alone[1][pair], read[1][pair], asked)
	}
	fmt.Printf("\nWith %d readers the median is %.3f times, the 99th percentile %.3f times as long: the middle of %d pairs at %g calls a second.\n",
		f.readers, stat.Ratio(read[0], alone[0]), stat.Ratio(read[1], alone[1]), f.rounds, f.rate)
	return nil
}
