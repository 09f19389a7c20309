package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"net"
	"time"

	"sluice/internal/app/trials"
	"sluice/internal/control/configs"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/gateway/guardrails/classify"
	"sluice/internal/gateway/guardrails/outbound"
	"sluice/internal/gateway/guardrails/partner"
	"sluice/internal/gateway/guardrails/pii"
	"sluice/internal/gateway/guardrails/placeholder"
	"sluice/internal/gateway/guardrails/placeholder/vaultstore"
	"sluice/internal/gateway/guardrails/secrets"
	"sluice/internal/provider/netguard"
)

// guardrailCatalog contains every check of the program.
func guardrailCatalog() *guardrails.Catalog {
	return guardrails.NewCatalog(check.List(), pii.List(), secrets.List(), classify.List(), partner.List())
}

// buildGuardrails builds the engine that runs guardrails on calls. The caller sets the Judge and
// the Ledger of the dependencies, which are the gateway itself.
func (a *traffic) buildGuardrails(c *guardrails.Catalog) (*guardrails.Engine, *check.Deps) {
	metrics := guardrails.NewMetrics()
	a.metrics.Register(metrics.Collectors()...)
	deps := a.checkDeps()
	return guardrails.New(c, deps, a.clock, metrics, a.log), deps
}

// checkDeps returns what checks use outside of themselves, without a Judge and a Ledger.
func (a *traffic) checkDeps() *check.Deps {
	return &check.Deps{
		Services: &outbound.Services{Client: a.client, URLs: netguard.NewURLCache(a.guard), Signers: a.signers, UserAgent: "sluice/" + a.version},
		Resolver: net.DefaultResolver,
		Now:      a.clock.Now,
	}
}

// guardrailTrials returns what runs guardrails for the tests and dry runs of the administration; nil
// if guardrails are off.
func (a *traffic) guardrailTrials() configs.Trials {
	if !a.set.Features.Guardrails {
		return nil
	}
	return trials.New(a.checks, *a.checkDeps(), a.clock, a.log)
}

// Bounds of the values that reversible redaction stores for later turns of a conversation, sealed.
const (
	placeholderBytes = 64 << 20 // in the memory of a node
	placeholderTTL   = 24 * time.Hour
)

// buildVaults builds the store of what reversible redaction hides: in Redis if nodes share their
// counters there, else in the memory of the node.
func (a *traffic) buildVaults() (*placeholder.Store, error) {
	o := placeholder.Options{Secret: a.hidden, Sealer: a.box, TTL: placeholderTTL, Now: a.clock.Now}
	if a.set.Redis.Enabled() {
		shared := vaultstore.NewRedis(vaultstore.Options{Server: redisServer(&a.set.Redis), Clock: a.clock, Log: a.log})
		a.closers = append(a.closers, shared)
		o.Backend = shared
	} else {
		o.Backend = placeholder.NewMemory(placeholderBytes, a.clock.Now)
	}
	vaults, err := placeholder.NewStore(o)
	if err != nil {
		return nil, err
	}
	a.metrics.Register(vaults)
	return vaults, nil
}

// placeholderSecret derives the secret of placeholders from that of the key hashes.
func placeholderSecret(pepper []byte) []byte {
	h := hmac.New(sha256.New, pepper)
	h.Write([]byte("placeholders"))
	return h.Sum(nil)
}
