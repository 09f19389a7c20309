// Statements of threads that are quiet are prepared and run by a helper, a thread that never
// enters Go. The linker puts the functions at the end of this file before those of DuckDB.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	GENTLE = 10,  // niceness of a helper that is to end, however busy the machine is
	GENTLEST = 19,
	PATIENCE = 2, // seconds that a call may take before its helper is only gentle
};

// A job is a call of one of the functions of DuckDB, which have up to four arguments.
struct job {
	int (*run)(struct job *);
	void *a, *b, *out;
	uint64_t n;
	int result;
};

// A helper does the jobs of one thread, one after the other.
struct helper {
	pthread_mutex_t mu; // guards what follows
	pthread_cond_t changed;
	struct job *job; // under way; NULL without one
	bool ending;
	bool hurried;
	pid_t tid;
};

static __thread struct helper *mine; // NULL: the thread does its jobs itself

// yield_to_others makes the thread one that gets the processor when nobody else wants it.
// The kernel (6.18) has a thread that is merely nice finish its slice of some milliseconds
// when another wakes; an idle one goes at once. There must be a way back from idle, which
// needs a right (CAP_SYS_NICE, or RLIMIT_NICE of 10 or more): else it is as nice as can be.
static void yield_to_others(void) {
	setpriority(PRIO_PROCESS, 0, GENTLEST);
	if (setpriority(PRIO_PROCESS, 0, GENTLE) == 0) {
		sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
	}
	sched_yield(); // it may have been made while others waited
}

static void *help(void *of) {
	struct helper *h = of;
	pthread_setname_np(pthread_self(), "sluice-question");
	pthread_mutex_lock(&h->mu);
	h->tid = (pid_t)syscall(SYS_gettid);
	pthread_mutex_unlock(&h->mu);
	yield_to_others();
	pthread_mutex_lock(&h->mu);
	for (;;) {
		while (h->job == NULL && !h->ending) {
			pthread_cond_wait(&h->changed, &h->mu);
		}
		struct job *j = h->job;
		if (j == NULL) {
			break;
		}
		pthread_mutex_unlock(&h->mu);
		j->result = j->run(j);
		pthread_mutex_lock(&h->mu);
		h->job = NULL;
		pthread_cond_broadcast(&h->changed);
	}
	pthread_mutex_unlock(&h->mu);
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->mu);
	free(h);
	return NULL;
}

// quiet_begin makes a helper for the thread. Without memory or threads there is none.
void quiet_begin(void) {
	struct helper *h = calloc(1, sizeof *h);
	if (h == NULL) {
		return;
	}
	pthread_condattr_t clock;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&h->changed, &clock);
	pthread_condattr_destroy(&clock);
	pthread_mutex_init(&h->mu, NULL);

	sigset_t all, before; // signals are for the threads of Go
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_t thread;
	int failed = pthread_create(&thread, NULL, help, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		free(h);
		return;
	}
	pthread_detach(thread);
	mine = h;
}

// quiet_end has the helper of the thread end, and does not wait for it.
void quiet_end(void) {
	struct helper *h = mine;
	if (h == NULL) {
		return;
	}
	mine = NULL;
	pthread_mutex_lock(&h->mu);
	h->ending = true;
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->mu);
}

// hurry makes a helper gentle that is idle: a question ends on a machine that is never
// idle too, and what it holds of DuckDB is not kept from those who write.
static void hurry(struct helper *h) {
	h->hurried = true;
	if (h->tid != 0) {
		sched_setscheduler(h->tid, SCHED_OTHER, &(struct sched_param){0});
	}
}

// hand has the helper do a job, and waits for it.
static int hand(struct job *j) {
	struct helper *h = mine;
	if (h == NULL) {
		return j->run(j);
	}
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE;
	pthread_mutex_lock(&h->mu);
	h->job = j;
	pthread_cond_broadcast(&h->changed);
	while (h->job != NULL) {
		if (h->hurried) {
			pthread_cond_wait(&h->changed, &h->mu);
		} else if (pthread_cond_timedwait(&h->changed, &h->mu, &until) == ETIMEDOUT) {
			hurry(h);
		}
	}
	pthread_mutex_unlock(&h->mu);
	return j->result;
}

int __real_duckdb_prepare_extracted_statement(void *conn, void *statements, uint64_t index, void **out);
int __real_duckdb_pending_prepared(void *statement, void **out);
int __real_duckdb_execute_pending(void *pending, void *out);

static int prepare(struct job *j) { return __real_duckdb_prepare_extracted_statement(j->a, j->b, j->n, j->out); }
static int pending(struct job *j) { return __real_duckdb_pending_prepared(j->a, j->out); }
static int execute(struct job *j) { return __real_duckdb_execute_pending(j->a, j->out); }

int __wrap_duckdb_prepare_extracted_statement(void *conn, void *statements, uint64_t index, void **out) {
	return hand(&(struct job){.run = prepare, .a = conn, .b = statements, .n = index, .out = out});
}

int __wrap_duckdb_pending_prepared(void *statement, void **out) {
	return hand(&(struct job){.run = pending, .a = statement, .out = out});
}

int __wrap_duckdb_execute_pending(void *pending_result, void *out) {
	return hand(&(struct job){.run = execute, .a = pending_result, .out = out});
}
