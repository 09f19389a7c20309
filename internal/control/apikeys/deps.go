// Package apikeys is the area of API keys: creation, rotation, expiry, and the keys that users get
// with a workspace. Start reading at Resources.
package apikeys

import (
	"context"
	"time"

	"sluice/internal/control/budgets"
	"sluice/internal/control/jobs"
	"sluice/internal/control/resource"
	"sluice/internal/control/sweep"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/sealed"
)

// Deps are the parts that the area uses; all are required.
type Deps struct {
	Box       *sealed.Sealer
	Hasher    *keys.Hasher
	KeyPrefix string // prefix of new API keys: "sk-"
	Budgets   budgets.Limits
	Sweeper   sweep.Sweeper
}

// Handlers of the area, by subject.
type (
	apiKeys       struct{ Deps }
	userKeys      struct{ Deps }
	scheduledJobs struct{ Deps }
)

// Resources returns what the area serves. To add a resource, add its line here.
func Resources(d Deps) []resource.Resource { return []resource.Resource{apiKeys{d}.apiKeys()} }

// Jobs returns the scheduled jobs of the area.
func Jobs(d Deps) []jobs.Job {
	return []jobs.Job{
		{Name: "key-cadence", Every: 10 * time.Minute, Run: scheduledJobs{d}.enforceRotationPeriods},
		{Name: "keys", Every: time.Minute, Run: scheduledJobs{d}.runDueKeySteps},
	}
}

// UserKeys creates user keys automatically, for other areas.
type UserKeys struct{ Deps }

// Make creates a user key with scopes in a workspace. Its owner reads the raw value in a session.
func (k UserKeys) Make(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record, userID string, scopes []string) error {
	return userKeys(k).makeUserKey(ctx, tx, c, workspace, userID, scopes)
}

// MakeOnJoining creates a user key for a new member if the workspace requires it.
func (k UserKeys) MakeOnJoining(ctx context.Context, tx resource.Tx, c *resource.Call, workspace resource.Record, userID string) error {
	return userKeys(k).keyOnJoining(ctx, tx, c, workspace, userID)
}
