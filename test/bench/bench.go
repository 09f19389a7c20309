package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sluice/test/bench/proc"
	"sluice/test/bench/report"
	"sluice/test/bench/target"
)

// options bound the rounds.
type options struct {
	rounds int
	length time.Duration
	quick  bool
}

// bench is a run of the benchmark.
type bench struct {
	options
	dir      string // for everything; each scenario has a folder of its own in it
	upstream string // its program
	sluice   string
	without  map[string]string // Sluice with a part left out, by the tags of its build; made when a scenario needs it
	nginx    string            // empty when it is not installed
	files    uint64            // descriptors that each program may have
	planes   []*plane
	result   report.Result
}

// maxFiles is the most descriptors that any scenario needs.
const maxFiles = 65536

// prepare builds and finds the programs.
func prepare(ctx context.Context, f flags) (_ *bench, err error) {
	b := &bench{options: options{f.rounds, f.length, f.quick}, without: map[string]string{}}
	if b.dir, err = os.MkdirTemp("", "sluice-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(b.dir))
		}
	}()
	b.sluice = filepath.Join(b.dir, "sluice-program")
	if err := copyProgram(b.sluice, f.sluice); err != nil {
		return nil, fmt.Errorf("take %s (make build makes it): %w", f.sluice, err)
	}
	version, err := exec.CommandContext(ctx, b.sluice, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", f.sluice, err)
	}
	b.result = report.Result{
		Date: time.Now(), Command: commandLine(), Machine: proc.ThisMachine(),
		Sluice: strings.TrimPrefix(strings.TrimSpace(string(version)), "sluice "),
	}
	if path, ok := target.FindNginx(); ok {
		b.nginx = path
		if b.result.Nginx, err = target.NginxVersion(ctx, path); err != nil {
			return nil, err
		}
	} else {
		fmt.Println("nginx is not installed: its rows and all ratios are missing")
	}
	if b.files, err = proc.RaiseFiles(maxFiles); err != nil {
		return nil, fmt.Errorf("raise the limit of open files: %w", err)
	}
	b.upstream, err = target.BuildUpstream(ctx, b.dir)
	return b, err
}

// buildWithout is Sluice without what tags leave out, built once.
func (b *bench) buildWithout(ctx context.Context, tags string) (path string, err error) {
	if b.without[tags] == "" {
		b.without[tags], err = target.BuildWithout(ctx, b.dir, tags)
	}
	return b.without[tags], err
}

// copyProgram copies a program, so that one built meanwhile is not what the next
// scenario measures.
func copyProgram(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, source)
	return errors.Join(err, out.Close())
}

// commandLine is how to run it again: make bench, or with flags by hand.
func commandLine() string {
	if len(os.Args) == 1 {
		return "make bench"
	}
	return strings.Join(append([]string{"go -C test run ./bench"}, os.Args[1:]...), " ")
}

// all runs the scenarios one after the other. When the time is over, what is
// missing is marked as skipped.
func (b *bench) all(ctx context.Context, chosen []*scenario) (_ *report.Result, err error) {
	began := time.Now()
	defer func() { err = errors.Join(err, b.stopPlanes()) }()
	var errs []error
	for _, s := range chosen {
		s.fit(b.files)
		out := &report.Scenario{Name: s.name, Title: s.title, Paired: s.translated || s.gated}
		b.result.Scenarios = append(b.result.Scenarios, out)
		if ctx.Err() != nil {
			out.Skipped = "the time was over"
		} else if err := b.one(ctx, s, out); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
		}
		out.Summarise()
		errs = append(errs, out.WriteTable(os.Stdout))
	}
	b.result.Took = time.Since(began).Round(time.Second).String()
	b.result.Aims = b.result.Judge(report.Aims)
	return &b.result, errors.Join(errs...)
}

// one runs a scenario on fresh programs.
func (b *bench) one(ctx context.Context, s *scenario, out *report.Scenario) (err error) {
	if s.asks != nil {
		return b.administer(ctx, s, out)
	}
	f, err := b.start(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	for _, c := range f.contenders {
		out.Rows = append(out.Rows, &report.Row{Target: c.name})
	}
	rounds := b.rounds
	if s.rounds > 0 {
		rounds = min(rounds, s.rounds)
	}
	for i := range rounds {
		for k := range f.contenders {
			n := (i + k) % len(f.contenders) // each goes first as often as the others
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r, problems, err := f.round(ctx, f.contenders[n], s.with(f.contenders[n], b.options))
			if err != nil {
				return fmt.Errorf("%s, round %d: %w", f.contenders[n].name, i+1, err)
			}
			out.Rows[n].Rounds = append(out.Rows[n].Rounds, *r)
			out.Problems = append(out.Problems, problems...)
		}
	}
	if s.gated {
		return f.inspect(ctx, out)
	}
	return nil
}
