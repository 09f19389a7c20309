package secretmanager

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"sluice/internal/domain/credential"
)

// vault reads from the key-value engines of HashiCorp Vault, version 1 and 2.
// Source: https://developer.hashicorp.com/vault/api-docs/secret/kv, auth/approle and
// auth/kubernetes, 2026-11.
type vault struct {
	r      *Reader
	tokens *tokens
}

// serviceAccount is where Kubernetes mounts the token of a pod.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/token"

const maxToken = 64 << 10

func newVault(r *Reader) *vault { return &vault{r, newTokens(r.set.Clock)} }

func (v *vault) fetch(ctx context.Context, s *credential.SecretSource) (*secret, error) {
	out, err := v.read(ctx, s)
	if isStatus(err, http.StatusForbidden, http.StatusUnauthorized) && v.tokens.forget(s) { // the token may have been revoked
		out, err = v.read(ctx, s)
	}
	return out, err
}

func (v *vault) read(ctx context.Context, s *credential.SecretSource) (*secret, error) {
	token, err := v.token(ctx, s)
	if err != nil {
		return nil, err
	}
	path := strings.Trim(s.Path, "/")
	out, err := v.readAt(ctx, s, token, path)
	// What a policy does not name is forbidden rather than not found, and policies for an
	// engine of version 2 name the path with data.
	denied := isStatus(err, http.StatusForbidden)
	if !denied && !isStatus(err, http.StatusNotFound) {
		return out, err
	}
	second := v.dataPath(ctx, s, token, path)
	if second == path {
		return out, err
	}
	again, later := v.readAt(ctx, s, token, second)
	if denied && isStatus(later, http.StatusForbidden, http.StatusUnauthorized) {
		return out, err // the token may be the cause
	}
	return again, later
}

// readAt reads one path. Version 2 wraps the secret once more, beside its metadata.
func (v *vault) readAt(ctx context.Context, s *credential.SecretSource, token, path string) (*secret, error) {
	var response struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	if err := v.call(ctx, s, http.MethodGet, path, token, nil, &response); err != nil {
		return nil, err
	}
	fields := response.Data
	var meta struct {
		Version *int `json:"version"`
	}
	if inner, ok := fields["data"]; ok && json.Unmarshal(fields["metadata"], &meta) == nil && meta.Version != nil {
		fields = nil
		if err := json.Unmarshal(inner, &fields); err != nil {
			return nil, errors.New("the secret manager returned an unexpected response")
		}
	}
	if len(fields) == 0 {
		return nil, errors.New("the secret is empty, or its last version was deleted")
	}
	return &secret{fields: fields}, nil
}

// dataPath is a path in a version 2 engine as the API expects it, with data after
// the mount: "kv/team/openai" is "kv/data/team/openai". The mount is asked for; where
// that is not allowed it is taken to be the first part.
func (v *vault) dataPath(ctx context.Context, s *credential.SecretSource, token, path string) string {
	var response struct {
		Data struct {
			Path    string            `json:"path"`
			Options map[string]string `json:"options"`
		} `json:"data"`
	}
	err := v.call(ctx, s, http.MethodGet, "sys/internal/ui/mounts/"+path, token, nil, &response)
	mount, _, _ := strings.Cut(path, "/")
	if err == nil {
		if response.Data.Options["version"] != "2" {
			return path
		}
		mount = strings.Trim(response.Data.Path, "/")
	}
	rest, ok := strings.CutPrefix(path, mount+"/")
	if !ok || strings.HasPrefix(rest, "data/") {
		return path
	}
	return mount + "/data/" + rest
}

// token is what calls are made with: the given one, or one that a login brings.
func (v *vault) token(ctx context.Context, s *credential.SecretSource) (string, error) {
	switch s.Auth["vault_auth_type"] {
	case "token":
		return s.Auth["vault_token"], nil
	case "approle":
		return v.tokens.get(s, func() (login, error) {
			return v.login(ctx, s, "auth/approle/login", map[string]string{"role_id": s.Auth["vault_role_id"], "secret_id": s.Auth["vault_secret_id"]})
		})
	case "kubernetes":
		return v.tokens.get(s, func() (login, error) {
			jwt, err := readToken(cmp.Or(v.r.set.KubernetesToken, serviceAccount))
			if err != nil {
				return login{}, err
			}
			return v.login(ctx, s, "auth/kubernetes/login", map[string]string{"role": s.Auth["vault_role"], "jwt": jwt})
		})
	}
	return "", errors.New("unknown vault_auth_type")
}

func readToken(file string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read service account token: %w", err)
	}
	if len(raw) > maxToken {
		return "", errors.New("the service account token is too large")
	}
	return strings.TrimSpace(string(raw)), nil
}

// login is what a sign-in brings.
type login struct {
	token   string
	seconds int
}

func (v *vault) login(ctx context.Context, s *credential.SecretSource, path string, body map[string]string) (login, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return login{}, err
	}
	var response struct {
		Auth struct {
			Token    string `json:"client_token"`
			Duration int    `json:"lease_duration"`
		} `json:"auth"`
	}
	if err := v.call(ctx, s, http.MethodPost, path, "", raw, &response); err != nil {
		return login{}, fmt.Errorf("sign in: %w", err)
	}
	if response.Auth.Token == "" {
		return login{}, errors.New("sign in: the response has no token")
	}
	return login{response.Auth.Token, response.Auth.Duration}, nil
}

func (v *vault) call(ctx context.Context, s *credential.SecretSource, method, path, token string, body []byte, into any) error {
	u, err := url.Parse(s.Auth["vault_addr"])
	if err != nil {
		return errors.New("the address of the secret manager is not valid")
	}
	header := map[string]string{"X-Vault-Request": "true"}
	if token != "" {
		header["X-Vault-Token"] = token
	}
	if ns := s.Auth["vault_namespace"]; ns != "" {
		header["X-Vault-Namespace"] = ns
	}
	if body != nil {
		header["Content-Type"] = "application/json"
	}
	return v.r.do(ctx, call{method: method, url: u.JoinPath("v1", path).String(), header: header, body: body}, into)
}
