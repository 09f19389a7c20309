package providerjobs

import (
	"io"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/wire"
)

// Access contains what the gateway needs to call the provider of a job: the caller's target and
// header, or a saved provider alone. It is immutable.
type Access struct {
	Header      wire.Header
	Target      *routing.Target
	AccountSlug string // that the caller named before the model
}

// Response is the response to a call of Upstream.
type Response struct {
	Status int
	Body   io.Reader
	Close  func()
}

// access returns the access of a call, with a copy of the caller's header.
func (c *Call) access() *Access {
	h := c.Header.Clone(0)
	for _, name := range [...]string{"content-type", "content-length", "content-encoding", "transfer-encoding", "expect", "accept-encoding"} {
		h.Del(name)
	}
	return &Access{Header: h, Target: c.Target, AccountSlug: c.AccountSlug}
}

// passThroughHeader requests the provider's own format.
const passThroughHeader = "x-gateway-passthrough"

// savedAccess returns the access to a job through its saved provider.
func savedAccess(j *providerjob.Job) *Access {
	b := &Access{Target: &routing.Target{Provider: "@" + j.ProviderID, Path: "job"}}
	if j.Proxied {
		b.Header.Add(passThroughHeader, "true")
	}
	return b
}

// accessFor returns the access to the provider of a job. The error is providerjob.ErrNoCredential when
// the job is private and this node does not have its access.
func (t *Jobs) accessFor(j *providerjob.Job) (*Access, error) {
	if !j.Private {
		return savedAccess(j), nil
	}
	by, ok := t.accesses.Get(j.Key())
	if !ok {
		return nil, providerjob.ErrNoCredential
	}
	return by, nil
}

// keyOf returns the key entry of the caller that created a job.
func keyOf(j *providerjob.Job) *keys.Entry {
	return &keys.Entry{Principal: access.Principal{Kind: access.ByKey, ID: j.KeyID, Name: j.KeyName, OrgID: j.OrgID, WorkspaceID: j.WorkspaceID, UserID: j.UserID}}
}
