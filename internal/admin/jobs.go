package admin

import (
	"slices"
	"time"

	"sluice/internal/control/apikeys"
	"sluice/internal/control/credentials"
	"sluice/internal/control/limits"
	"sluice/internal/control/people"
	"sluice/internal/worker"
)

// Jobs returns all jobs of the administration, for one node at a time. They need the same Parts
// as New, except those for serving requests.
func Jobs(p Parts) []worker.Job {
	k := newDeps(p)
	return slices.Concat(apikeys.Jobs(k.apikeyDeps()), credentials.Jobs(k.credentialDeps()), limits.Jobs(k.limitDeps()), people.Jobs(k.peopleDeps()),
		[]worker.Job{{Name: "feedback-purge", Every: time.Hour, Run: k.purgeFeedback}})
}
