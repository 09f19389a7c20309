// Statements of who is quiet are run by a helper, a thread that never enters Go, while who
// asked waits in Go. The linker puts the functions at the end of this file before those of
// DuckDB.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	GENTLE = 10,  // niceness of a helper that is to end, however busy the machine is
	GENTLEST = 19,
};

// A job is a call of one of the functions of DuckDB, which have up to four arguments.
struct job {
	uint64_t (*run)(struct job *);
	void *a;
	const void *b;
	void *out;
	uint64_t n;
	uint64_t result;
};

// A helper does jobs one after the other. Nothing here is locked: who holds a lock and
// yields keeps it from others for as long as the machine is busy.
struct helper {
	_Atomic(struct job *) job; // under way; NULL without one
	atomic_bool ending;
	atomic_int tid; // of the thread, when it may be idle; else 0

	int work;      // an eventfd: it is told of each job
	int done;      // an eventfd: it tells when that is done
	uintptr_t who; // waits
	char name[16]; // of the thread
};

static __thread struct helper *mine; // NULL: the thread does its jobs itself

void quietWait(uintptr_t who); // of priority_linux.go

// tell adds to an eventfd, which cannot fail before it has been told 2^64 times.
static void tell(int fd) {
	(void)!write(fd, &(uint64_t){1}, sizeof(uint64_t));
}

// yield_to_others makes the thread one that gets the processor when nobody else wants it.
// The kernel (6.18) has a thread that is merely nice finish its slice of some milliseconds
// when another wakes; an idle one goes at once. There must be a way back from idle, which
// needs a right (CAP_SYS_NICE, or RLIMIT_NICE of 10 or more): else it is as nice as can be.
static void yield_to_others(struct helper *h) {
	setpriority(PRIO_PROCESS, 0, GENTLEST);
	if (setpriority(PRIO_PROCESS, 0, GENTLE) == 0) {
		h->tid = (pid_t)syscall(SYS_gettid);
		sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
	}
	sched_yield(); // it may have been made while others waited
}

// duckdb_je_mallctl speaks to the allocator of DuckDB, where DuckDB is built with its own.
extern int duckdb_je_mallctl(const char *name, void *was, size_t *was_size, void *is, size_t is_size) __attribute__((weak));

// share_memory has a thread take memory from the same arena of the allocator as all others
// that do jobs. What one of them freed stays with its arena for a while before the system has
// it back: the next one uses that instead of as much again.
static void share_memory(void) {
	static __thread bool shares;
	unsigned first = 0;
	if (!shares && duckdb_je_mallctl != NULL) {
		duckdb_je_mallctl("thread.arena", NULL, NULL, &first, sizeof first);
	}
	shares = true;
}

// perform does a job.
static uint64_t perform(struct job *j) {
	share_memory();
	return j->run(j);
}

static void *help(void *of) {
	struct helper *h = of;
	pthread_setname_np(pthread_self(), h->name);
	yield_to_others(h);
	uint64_t told;
	while (read(h->work, &told, sizeof told) == sizeof told && !h->ending) {
		struct job *j = h->job;
		j->result = perform(j);
		h->job = NULL;
		tell(h->done);
	}
	close(h->work);
	free(h);
	return NULL;
}

// quiet_new makes a helper that tells an eventfd when a job is done; NULL when the system
// has no room for it.
struct helper *quiet_new(const char *name, int done, uintptr_t who) {
	struct helper *h = calloc(1, sizeof *h);
	if (h == NULL) {
		return NULL;
	}
	h->done = done;
	h->who = who;
	strncpy(h->name, name, sizeof h->name - 1);
	h->work = eventfd(0, EFD_CLOEXEC);
	if (h->work < 0) {
		free(h);
		return NULL;
	}
	sigset_t all, before; // signals are for the threads of Go
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_t thread;
	int failed = pthread_create(&thread, NULL, help, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		close(h->work);
		free(h);
		return NULL;
	}
	pthread_detach(thread);
	return h;
}

// quiet_end has a helper without a job end, and does not wait for it.
void quiet_end(struct helper *h) {
	h->ending = true;
	tell(h->work);
}

// quiet_use gives the jobs of this thread to a helper; NULL: no longer.
void quiet_use(struct helper *h) {
	mine = h;
}

// quiet_policy makes a helper gentle that is idle, so that its job ends on a machine that is
// never idle too, and what it holds of DuckDB is not kept from others; or idle again. One that
// cannot be idle stays as nice as can be.
void quiet_policy(struct helper *h, bool gentle) {
	pid_t tid = h->tid;
	if (tid != 0) {
		sched_setscheduler(tid, gentle ? SCHED_OTHER : SCHED_IDLE, &(struct sched_param){0});
	}
}

// hand has the helper of the thread do a job, and waits for it in Go, which has the processor
// for others at once. To wait here would keep it from them until somebody looks, which is up
// to 10 ms later.
static uint64_t hand(struct job *j) {
	struct helper *h = mine;
	if (h == NULL) {
		return perform(j);
	}
	h->job = j;
	tell(h->work);
	quietWait(h->who);
	while (h->job != NULL) { // Go could not wait for it
		usleep(1000);
	}
	return j->result;
}

// WRAP has a function of DuckDB done by hand.
#define WRAP(type, name, parameters, values, ...) \
	type __real_##name parameters; \
	static uint64_t run_##name(struct job *j) { return (uint64_t)__real_##name values; } \
	type __wrap_##name parameters { return (type)hand(&(struct job){.run = run_##name, __VA_ARGS__}); }

// Those of questions.
WRAP(uint64_t, duckdb_extract_statements, (void *a, const char *b, void *out), (j->a, j->b, j->out), .a = a, .b = b, .out = out)
WRAP(int, duckdb_prepare_extracted_statement, (void *a, const void *b, uint64_t n, void *out), (j->a, j->b, j->n, j->out), .a = a, .b = b, .n = n, .out = out)
WRAP(int, duckdb_pending_prepared, (void *a, void *out), (j->a, j->out), .a = a, .out = out)
WRAP(int, duckdb_execute_pending, (void *a, void *out), (j->a, j->out), .a = a, .out = out)

// Those of the writer.
WRAP(int, duckdb_query, (void *a, const char *b, void *out), (j->a, j->b, j->out), .a = a, .b = b, .out = out)
WRAP(int, duckdb_execute_prepared, (void *a, void *out), (j->a, j->out), .a = a, .out = out)
WRAP(int, duckdb_append_data_chunk, (void *a, const void *b), (j->a, j->b), .a = a, .b = b)
WRAP(int, duckdb_appender_flush, (void *a), (j->a), .a = a)
