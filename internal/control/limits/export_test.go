package limits

import (
	"context"
	"time"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/access"
	"sluice/internal/limits/quota"
)

// TryRates brings recorded traffic before a policy that is about none of it: how much of
// it was looked at, and whether there was more.
func TryRates(ctx context.Context, logs Logs) (attempts int, truncated bool, err error) {
	p := quota.RateLimit{Conditions: []quota.Condition{{Key: "provider", Value: quota.Values{"none"}}}, Type: quota.Requests, Unit: quota.PerMinute, Value: 1}
	run := dryRun{rehearsal: p.Rehearse(), keys: make(map[string]*dryRunKeyView)}
	err = run.replay(ctx, logs, &resource.Call{Principal: new(access.Principal)}, time.Time{}, time.Time{})
	return run.out.Attempts, run.out.Truncated, err
}
