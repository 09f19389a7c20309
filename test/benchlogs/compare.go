package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"sluice/test/bench/load"
	"sluice/test/bench/proc"
	"sluice/test/bench/stat"
	"sluice/test/bench/target"
)

// kind is what happens in a round beside the calls.
type kind int

// Two of the rounds of a set are alike: what they differ by is what the machine differs by,
// and nothing smaller can be told of a reader. What calls feel of a program that counts they
// feel of a processor that is not idle, and no reader can be had for less.
const (
	alone     kind = iota
	again          // likewise
	counted        // beside a program that has nothing to do with the gateway
	elsewhere      // beside a reader of another gateway
	read           // beside a reader
	kinds
)

// doing is what somebody does beside the calls, by kind.
var doing = map[kind]string{counted: "counting", elsewhere: "reading elsewhere", read: "reading"}

// latencies are those of the rounds of one kind, in ms, in the order of the sets.
type latencies struct{ p50, p99 []float64 }

// bench is a gateway under measurement, with the processes that a round consists of beside
// this one.
type bench struct {
	flags
	gate      *target.Sluice
	other     *target.Sluice // that serves no calls
	processes proc.Family
}

// compare runs sets of rounds, each kind once. Who goes first changes from set to set, and
// so does who follows whom.
func (b *bench) compare(ctx context.Context) error {
	fmt.Println("| set | p50 alone | p50 again | p50 counted | p50 elsewhere | p50 read | p99 alone | p99 again | p99 counted | p99 elsewhere | p99 read |" +
		" asked elsewhere | asked | others |\n|" + strings.Repeat("---:|", 14))
	var byKind [kinds]latencies
	for set := range b.rounds {
		var queries [kinds]int
		others := 0.0
		for i := range kinds {
			k := (kind(set) + i) % kinds
			if set/int(kinds)%2 == 1 {
				k = (kind(set) + kinds - i) % kinds
			}
			n, taken, err := b.round(ctx, k, &byKind[k])
			if err != nil {
				return err
			}
			queries[k], others = n, max(others, taken)
		}
		fmt.Printf("| %d |", set+1)
		for k := range byKind {
			fmt.Printf(" %.2f |", byKind[k].p50[set])
		}
		for k := range byKind {
			fmt.Printf(" %.2f |", byKind[k].p99[set])
		}
		fmt.Printf(" %d | %d | %.0f %% |\n", queries[elsewhere], queries[read], others*100)
	}
	b.printResult(byKind)
	return nil
}

// round measures calls beside whom its kind says. It returns how much these asked, and which
// share of the machine was taken by what has no part in the round.
func (b *bench) round(ctx context.Context, k kind, to *latencies) (queries int, others float64, err error) {
	if err := b.gate.AwaitIngest(ctx); err != nil {
		return 0, 0, err
	}
	before, err := b.foreign()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	companions, err := b.company(ctx, k)
	var res *load.Result
	if err == nil {
		res, err = measure(ctx, calls(b.flags, b.gate))
	}
	var company time.Duration // that they took of the processor
	for _, c := range companions {
		n, took, failed := c.stop()
		queries, company, err = queries+n, company+took, errors.Join(err, failed)
	}
	if err != nil {
		return 0, 0, err
	}
	after, err := b.foreign()
	if err != nil {
		return 0, 0, err
	}
	ms := func(q float64) float64 { return float64(res.Latency.Quantile(q).Microseconds()) / 1000 }
	to.p50, to.p99 = append(to.p50, ms(0.5)), append(to.p99, ms(0.99))
	return queries, max(0, (after-before-company).Seconds()/time.Since(began).Seconds()/float64(runtime.NumCPU())), nil
}

// company starts who is there beside the calls of a round. With an error it returns those that
// were started.
func (b *bench) company(ctx context.Context, k kind) (companions []*companion, err error) {
	for range b.readers {
		var c *companion
		switch k {
		case counted:
			c, err = startCounter(ctx, b.limited)
		case read:
			c, err = startReader(ctx, b.gate)
		case elsewhere:
			c, err = startReader(ctx, b.other)
		case alone, again, kinds:
			return nil, nil
		}
		if err != nil {
			return companions, err
		}
		companions = append(companions, c)
	}
	return companions, nil
}

// foreign is the processor time that others have had, since the machine started.
func (b *bench) foreign() (time.Duration, error) {
	all, err := proc.Busy()
	if err != nil {
		return 0, err
	}
	theirs, err := b.processes.CPU()
	if err != nil {
		return 0, err
	}
	generator, err := proc.GeneratorCPU()
	return all - theirs - generator, err
}

// aim is how many times as long the 99th percentile may be beside readers.
const aim = 1.05

// printResult prints how much longer calls took beside readers than without, and the same of the
// rounds without readers among themselves.
func (b *bench) printResult(byKind [kinds]latencies) {
	without := latencies{mean(byKind[alone].p50, byKind[again].p50), mean(byKind[alone].p99, byKind[again].p99)}
	fmt.Printf("\nThe middle of %d sets at %g calls a second, and between what half of them lie:\n\n", b.rounds, b.rate)
	fmt.Println("| compared | p50 | p99 |\n|---|---:|---:|")
	fmt.Printf("| again / alone | %s | %s |\n", spread(byKind[again].p50, byKind[alone].p50), spread(byKind[again].p99, byKind[alone].p99))
	for _, k := range []kind{counted, elsewhere, read} {
		fmt.Printf("| %d %s / nobody | %s | %s |\n", b.readers, doing[k], spread(byKind[k].p50, without.p50), spread(byKind[k].p99, without.p99))
	}
	fmt.Printf("| reading / elsewhere | %s | %s |\n", spread(byKind[read].p50, byKind[elsewhere].p50), spread(byKind[read].p99, byKind[elsewhere].p99))
	verdict := "missed"
	if stat.Ratio(byKind[read].p99, without.p99) <= aim {
		verdict = "met"
	}
	rate := "as fast as they are answered"
	if b.limited {
		rate = "as often as their key may"
	}
	fmt.Printf("\nThe aim of at most %.2f times at the 99th percentile is %s for calls that the upstream answers after %v and readers who ask %s.\n", aim, verdict, b.delay, rate)
	noise := stat.Ratio(byKind[again].p99, byKind[alone].p99)
	if ratio := stat.Ratio(byKind[counted].p99, without.p99); ratio > max(aim, noise) {
		fmt.Printf("Nothing that computes on this machine meets it: beside a program that only counts calls take %.2f times as long.\n", ratio)
	}
}

// mean is that of each pair.
func mean(xs, ys []float64) (out []float64) {
	for i := range xs {
		out = append(out, (xs[i]+ys[i])/2)
	}
	return out
}

// spread is the middle of the ratios, and between what half of them lie.
func spread(xs, to []float64) string {
	var ratios []float64
	for i := range xs {
		ratios = append(ratios, xs[i]/to[i])
	}
	slices.Sort(ratios)
	n := len(ratios)
	return fmt.Sprintf("%.3f (%.2f to %.2f)", stat.Median(ratios), ratios[n/4], ratios[n-1-n/4])
}
