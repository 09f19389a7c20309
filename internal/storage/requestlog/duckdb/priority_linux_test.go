package duckdb

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A statement runs on a thread that yields, and one that takes long on a thread that is only
// gentle. The thread that asked stays as it was, and the other ends with the question.
func TestQuestionsYield(t *testing.T) {
	db, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "logs.duckdb")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asker, result := make(chan int, 1), make(chan error, 1)
	go func() {
		result <- atLowPriority(func() error {
			asker <- syscall.Gettid()
			var n int64
			return db.sql.QueryRowContext(ctx, "SELECT sum(hash(a.range, b.range)) FROM range(1000000) a, range(1000000) b").Scan(&n)
		})
	}()
	before := policy(t, os.Getpid())
	if p := policy(t, <-asker); p.Policy != before.Policy || p.Nice != before.Nice {
		t.Errorf("who asks has policy %d and niceness %d", p.Policy, p.Nice)
	}
	var helper int
	for helper == 0 || !yields(policy(t, helper)) {
		select {
		case err := <-result:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
			helper = threadOf(t, "(sluice-question)")
		}
	}
	if p := policy(t, helper); p.Policy == unix.SCHED_IDLE {
		for p.Policy != unix.SCHED_NORMAL {
			time.Sleep(10 * time.Millisecond)
			p = policy(t, helper)
		}
		if p.Nice != 10 {
			t.Errorf("after a while the niceness is %d, want 10", p.Nice)
		}
	}
	cancel()
	if err := <-result; err == nil {
		t.Error("a question that was given up has an answer")
	}
	for threadOf(t, "(sluice-question)") == helper {
		time.Sleep(time.Millisecond)
	}
}

// The writer yields until that has it wait too long, and again some time later.
func TestWriterYields(t *testing.T) {
	db, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "logs.duckdb")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	l := db.link
	work := func() (waited bool) {
		t.Helper()
		if err := l.exec("CREATE OR REPLACE TABLE numbers AS FROM range(100000)"); err != nil {
			t.Fatal(err)
		}
		waited = l.aside.waited > 0
		l.adjustPriority()
		return waited
	}
	if !work() {
		t.Error("the writer does its work itself")
	}
	if helper := threadOf(t, "(sluice-writer)"); helper == 0 || !yields(policy(t, helper)) {
		t.Errorf("thread %d does not yield", helper)
	}
	l.aside.waited = mayWait + 1
	l.adjustPriority()
	if work() {
		t.Error("a writer that had to wait does not rush")
	}
	l.rush = time.Now()
	if !work() {
		t.Error("the writer rushes for good")
	}
}

func yields(p *unix.SchedAttr) bool { return p.Policy == unix.SCHED_IDLE || p.Nice == 19 }

func policy(t *testing.T, thread int) *unix.SchedAttr {
	t.Helper()
	p, err := unix.SchedGetAttr(thread, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// threadOf finds the thread of a name that has used the most processor time; 0 when there is none.
func threadOf(t *testing.T, name string) (thread int) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var maxUser int
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil || !strings.Contains(string(text), name) {
			continue // it may have ended
		}
		fields := strings.Fields(string(text))
		user, err := strconv.Atoi(fields[13])
		if err != nil {
			t.Fatal(err)
		}
		if thread == 0 || user > maxUser {
			thread, _ = strconv.Atoi(fields[0])
			maxUser = user
		}
	}
	return thread
}
