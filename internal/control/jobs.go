package control

import (
	"slices"
	"time"

	"sluice/internal/control/apikeys"
	"sluice/internal/control/credentials"
	"sluice/internal/control/jobs"
	"sluice/internal/control/limits"
	"sluice/internal/control/people"
)

// Jobs returns all jobs of the administration, for one node at a time. They need the same Parts
// as New, except those for serving requests.
func Jobs(p Parts) []jobs.Job {
	k := newDeps(p)
	return slices.Concat(apikeys.Jobs(k.apikeyDeps()), credentials.Jobs(k.credentialDeps()), limits.Jobs(k.limitDeps()), people.Jobs(k.peopleDeps()),
		[]jobs.Job{{Name: "feedback-purge", Every: time.Hour, Run: k.purgeFeedback}})
}
