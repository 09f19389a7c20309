package sign

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sluice/internal/kernel/fault"
)

// Default token URL of a service account, scope of its tokens, and lifetime of its assertion.
// Source: contract/providers.yaml, shared.auth.gcp.
const (
	googleTokenURL = "https://oauth2.googleapis.com/token"
	googleScope    = "https://www.googleapis.com/auth/cloud-platform"
	assertionTime  = time.Hour
)

// account is the JSON document of a service account.
type account struct {
	Type     string `json:"type"` // "service_account"
	Email    string `json:"client_email"`
	KeyID    string `json:"private_key_id"`
	Key      string `json:"private_key"` // PEM
	TokenURL string `json:"token_uri"`

	key *rsa.PrivateKey
}

// readAccount reads the document. It accepts only service accounts: other types of credentials
// name files and commands of the machine that reads them.
func readAccount(doc string) (*account, error) {
	var a account
	if err := json.Unmarshal([]byte(doc), &a); err != nil {
		return nil, badAccount("is not a JSON object").WithCause(err)
	}
	switch {
	case a.Type != "service_account":
		return nil, badAccount(`must have the type "service_account"`)
	case a.Email == "":
		return nil, badAccount("must have a client_email")
	}
	if a.TokenURL == "" {
		a.TokenURL = googleTokenURL
	}
	u, err := url.Parse(a.TokenURL)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, badAccount("must have an https URL in token_uri")
	}
	if a.key, err = readKey(a.Key); err != nil {
		return nil, badAccount("must have a private_key that is an RSA key in PEM form").WithCause(err)
	}
	return &a, nil
}

func badAccount(what string) *fault.Error {
	return fault.New(fault.InvalidRequest, gcpAccount+" "+what).WithParam(gcpAccount)
}

// readKey reads an RSA key of PKCS#8 or PKCS#1, of at most rsaMaxBits bits. Its errors do not
// contain any part of the key.
func readKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("not in PEM form")
	}
	return parseRSA(block.Bytes)
}

// assertion returns the signed JWT with which the account requests a token.
func (a *account) assertion(now time.Time) (string, error) {
	head, _ := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": a.KeyID}) // strings: cannot fail
	claims, _ := json.Marshal(map[string]any{
		"iss": a.Email, "sub": a.Email, "aud": a.TokenURL, "scope": googleScope, "iat": now.Unix(), "exp": now.Add(assertionTime).Unix(),
	})
	text := segment(head) + "." + segment(claims)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, a.key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + segment(sig), nil
}

func segment(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// exchange fetches a token for the account's assertion. An address other than Google's comes
// from the credential and is therefore not trusted.
func (s *gcpSigner) exchange(ctx context.Context, a *account) (token, error) {
	client := s.outside
	if a.TokenURL == googleTokenURL {
		client = s.http
	}
	if client == nil {
		return token{}, errors.New("token_uri must be Google's; other addresses are not allowed")
	}
	assertion, err := a.assertion(s.clock.Now())
	if err != nil {
		return token{}, err
	}
	form := url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return token{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return askToken(client, req)
}

// machineTokenURL is the address at which machines of Google Cloud fetch the token of their
// service account; on GKE, of the workload.
// Source: https://cloud.google.com/compute/docs/access/authenticate-workloads, read 2026-11.
const machineTokenURL = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token"

// metadataToken fetches the token of the machine.
func (s *gcpSigner) metadataToken(ctx context.Context) (token, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, machineTokenURL, http.NoBody)
	if err != nil {
		return token{}, err
	}
	req.Header.Set("Metadata-Flavor", "Google")
	return askToken(s.http, req)
}
