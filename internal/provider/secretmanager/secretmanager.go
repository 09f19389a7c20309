// Package secretmanager reads secrets from external secret managers when a call needs them: AWS
// Secrets Manager, Azure Key Vault and HashiCorp Vault. It caches a secret for five minutes. An
// expired secret serves one more minute while a new one is fetched, and up to an hour while the
// manager is unreachable, until the manager rejects a fetch. The package never stores, prints or
// logs a secret. Start reading at Reader.
package secretmanager

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/provider/sign"
)

// Limits of a fetch.
const (
	fetchTime        = 10 * time.Second
	maxResponseBytes = 1 << 20 // bytes of a manager's answer
)

// Options are the dependencies of a Reader. All are required unless a comment states otherwise.
type Options struct {
	HTTP      *http.Client // keeps from private addresses; redirects are never followed
	Signers   *sign.Set    // for AWS and Azure
	AWSDomain string       // AWS_ENDPOINT_DOMAIN; empty: amazonaws.com
	// FederatedTokens means that the platform gives the gateway Azure tokens as a
	// workload, so that the default sign-in uses them.
	FederatedTokens bool
	// KubernetesToken is the file with the token of the gateway's service account;
	// empty: where Kubernetes mounts it.
	KubernetesToken string
	// TakesStoredKeys reports whether the operator lets the gateway's own identity go to the
	// host and port of a URL: netguard.Guard.TakesStoredKeys.
	TakesStoredKeys func(raw string) bool
	Clock           ident.Clock
	Log             *slog.Logger
}

// Reader reads secrets. Safe for concurrent use.
type Reader struct {
	set      Options
	http     *http.Client
	cache    *cache
	managers map[credential.Manager]manager
}

// manager fetches the secret of a source. An error names no secret.
type manager interface {
	fetch(ctx context.Context, s *credential.SecretSource) (*secret, error)
}

// New makes a reader. Nothing is fetched before it is needed. Close ends what runs in
// the background.
func New(o Options) *Reader {
	client := *o.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r := &Reader{set: o, http: &client}
	r.managers = map[credential.Manager]manager{
		credential.AWSSecretsManager: awsManager{r},
		credential.AzureKeyVault:     azureManager{r},
		credential.HashiCorpVault:    newVault(r),
	}
	r.cache = newCache(o.Clock, o.Log, r.fetch)
	return r
}

// Close waits for what is being fetched and fetches nothing more.
func (r *Reader) Close() { r.cache.close() }

// Read returns the values of credential fields, by their names. It waits for what is
// not kept, at most until ctx ends. A secret that cannot be had is
// fault.SecretUnavailable, whose cause is for the log.
func (r *Reader) Read(ctx context.Context, uses []credential.SecretUse) (map[string]string, error) {
	values := make(map[string]string, len(uses))
	for i := range uses {
		u := &uses[i]
		if u.Source == nil {
			return nil, unavailable(u, errors.New("the secret reference was deleted, or is not available in this workspace"))
		}
		s, err := r.cache.get(ctx, u.Source)
		if ctx.Err() != nil && err != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			values[u.Field], err = s.member(u.Key, u.Format)
		}
		if err != nil {
			return nil, unavailable(u, err)
		}
	}
	return values, nil
}

func unavailable(u *credential.SecretUse, cause error) error {
	return fault.Newf(fault.SecretUnavailable, "cannot read the provider's %s from the secret manager", u.Field).WithCause(cause)
}

// errGatewayIdentity refuses a reference that was saved while its address was listed, or by a
// version that did not ask for that.
var errGatewayIdentity = errors.New("this authentication method sends a token of the gateway; add the host and port of the secret manager to STORED_KEY_HOSTS")

// fetch asks the manager of a source, if the gateway's own identity may go there.
func (r *Reader) fetch(ctx context.Context, s *credential.SecretSource) (*secret, error) {
	m, ok := r.managers[s.Manager]
	if !ok {
		return nil, errors.New("unknown secret manager " + string(s.Manager))
	}
	if to := credential.IdentityAddress(s.Manager, s.Auth); to != "" && !r.set.TakesStoredKeys(to) {
		return nil, errGatewayIdentity
	}
	ctx, stop := context.WithTimeout(ctx, fetchTime)
	defer stop()
	return m.fetch(ctx, s)
}

// secret is what a manager keeps under one path: a text, or an object.
type secret struct {
	text   string                     // as it is; empty for an object that a manager keeps as such
	fields map[string]json.RawMessage // nil if the text is not an object
}

// textSecret is a secret that a manager keeps as a text, which may be JSON.
func textSecret(text string) *secret {
	s := &secret{text: text}
	if strings.HasPrefix(strings.TrimSpace(text), "{") && json.Unmarshal([]byte(text), &s.fields) != nil {
		s.fields = nil
	}
	return s
}

// member is what a mapping asks for: a member of the object, or the whole. Of an
// object without a text of its own, the whole is its only member, or the one called
// value.
func (s *secret) member(key, format string) (string, error) {
	v := s.text
	switch {
	case key != "" && s.fields == nil:
		return "", errors.New("the secret is not an object, but secret_key is set")
	case key == "" && v == "" && len(s.fields) == 1:
		for key = range s.fields { // the only one
		}
	case key == "" && v == "":
		key = "value"
	}
	if key != "" {
		raw, ok := s.fields[key]
		if !ok || string(raw) == "null" {
			return "", errors.New("the secret does not have the member in secret_key; set secret_key to an existing member")
		}
		if json.Unmarshal(raw, &v) != nil {
			v = string(raw)
		}
	}
	if v == "" {
		return "", errors.New("the secret is empty")
	}
	if format != "json" {
		return v, nil
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(v)) != nil {
		return "", errors.New("the secret is not JSON, as value_format requires")
	}
	return b.String(), nil
}
