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
	asker, asked := make(chan int, 1), make(chan error, 1)
	go func() {
		asked <- quietly(func() error {
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
		case err := <-asked:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
			helper = helperOf(t)
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
	if err := <-asked; err == nil {
		t.Error("a question that was given up has an answer")
	}
	for helperOf(t) == helper {
		time.Sleep(time.Millisecond)
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

// helperOf finds the thread of a question that has used the most processor time; 0 when there is none.
func helperOf(t *testing.T) (thread int) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var most int
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil || !strings.Contains(string(text), "(sluice-question)") {
			continue // it may have ended
		}
		fields := strings.Fields(string(text))
		user, err := strconv.Atoi(fields[13])
		if err != nil {
			t.Fatal(err)
		}
		if thread == 0 || user > most {
			thread, _ = strconv.Atoi(fields[0])
			most = user
		}
	}
	return thread
}
