package admin

import (
	"context"
	"time"
)

// Job is a scheduled change of stored records: worker.Job. It does what is due at now, in a
// transaction for each record, so that it may be interrupted at any point and run again.
type Job struct {
	Name  string // "keys"
	Every time.Duration
	Run   func(ctx context.Context, now time.Time) error
}

// Jobs returns all jobs of the administration, for one node at a time. They need the same Parts
// as New, except those for serving requests. To add a job, add its line here.
func Jobs(p Parts) []Job {
	k := newDeps(p)
	const often, seldom = time.Minute, time.Hour
	jobs := []Job{
		{"key-cadence", 10 * time.Minute, k.enforceRotationPeriods},
		{"keys", often, k.runDueKeySteps},
		{"providers", often, k.expireProviders},
		{"budgets", 30 * time.Second, k.updateBudgets},
		{"invites", often, k.expireInvites},
		{"sessions", seldom, k.dropSessions},
		{"outbox-purge", seldom, k.purgeOutbox},
		{"feedback-purge", seldom, k.purgeFeedback},
	}
	if p.Mail != nil {
		jobs = append(jobs, Job{"outbox", 5 * time.Second, k.sendMails})
	}
	return jobs
}
