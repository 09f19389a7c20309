package partner

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"sluice/internal/gateway/guardrails/check"
)

// azureScope is the scope of tokens for Azure AI services.
// Source: https://learn.microsoft.com/azure/ai-services/authentication, 2026-11-28.
const azureScope = "https://cognitiveservices.azure.com/.default"

// azureTokenService returns tokens of applications.
const azureTokenService = "https://login.microsoftonline.com"

// tokenMargin is the time before the end of a token at which it is replaced.
const tokenMargin = 2 * time.Minute

// maxTokens is the maximum number of cached tokens.
const maxTokens = 256

// maxTokenBytes limits the response of the token service.
const maxTokenBytes = 64 << 10

// tokenCache caches the tokens of applications. It is safe for concurrent use and holds no lock during
// a call.
type tokenCache struct {
	mu   sync.Mutex
	list map[[sha256.Size]byte]cachedToken
}

type cachedToken struct {
	token   string
	expires time.Time
}

func (c *tokenCache) find(key [sha256.Size]byte, now time.Time) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.list[key]
	return t.token, ok && now.Before(t.expires)
}

func (c *tokenCache) put(key [sha256.Size]byte, t cachedToken) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.list == nil || len(c.list) >= maxTokens {
		c.list = make(map[[sha256.Size]byte]cachedToken)
	}
	c.list[key] = t
}

// azureToken returns the token of an application in Microsoft Entra. Checks with an API key need none.
func azureToken(ctx context.Context, r *runner, _ *values) (map[string]any, error) {
	creds := r.azureCredentials()
	if creds.Text("apiKey", "") != "" {
		return nil, nil
	}
	switch mode := creds.Text("azureAuthMode", ""); mode {
	case "entra":
	case "managed":
		return nil, errors.New("azureAuthMode managed is not supported, because guardrails cannot call the metadata service of the machine; use apiKey or entra")
	default:
		return nil, errors.New("credentials need apiKey, or azureAuthMode entra with tenantId, clientId and clientSecret")
	}
	tenant, client, password := creds.Text("tenantId", ""), creds.Text("clientId", ""), creds.Text("clientSecret", "")
	if !hostForm.MatchString(tenant) || client == "" || password == "" {
		return nil, errors.New("azureAuthMode entra needs tenantId, clientId and clientSecret")
	}
	key := sha256.Sum256([]byte(tenant + "\x00" + client + "\x00" + password))
	if token, ok := r.state.tokens.find(key, r.now()); ok {
		return map[string]any{"token": token}, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client}, "client_secret": {password}, "scope": {azureScope}}
	token, life, err := r.requestToken(ctx, tenant, form)
	if err != nil {
		return nil, err
	}
	r.state.tokens.put(key, cachedToken{token, r.now().Add(life)})
	return map[string]any{"token": token}, nil
}

// azureCredentials returns the credentials of the service, which may be nested by its name.
func (r *runner) azureCredentials() check.Params {
	all := r.params.Object("credentials")
	if nested, ok := all[plainText(r.spec.Constants["service"])].(map[string]any); ok {
		return nested
	}
	return all
}

// requestToken returns a new token and the time for which it can be used.
func (r *runner) requestToken(ctx context.Context, tenant string, form url.Values) (token string, life time.Duration, err error) {
	req := &check.ServiceRequest{Method: "POST", URL: azureTokenService + "/" + tenant + "/oauth2/v2.0/token", Body: []byte(form.Encode()), MaxBytes: maxTokenBytes}
	req.Header.Set("content-type", "application/x-www-form-urlencoded")
	resp, failure := r.call(ctx, ctx, req, azureTokenService)
	if failure != nil {
		return "", 0, errors.New("request a token: " + failure.Message)
	}
	var body struct {
		Token   string  `json:"access_token"`
		Seconds float64 `json:"expires_in"`
	}
	if resp.Status != 200 || json.Unmarshal(resp.Body, &body) != nil || body.Token == "" {
		return "", 0, fmt.Errorf("the token service of Microsoft Entra returned status %d", resp.Status)
	}
	return body.Token, max(0, time.Duration(body.Seconds)*time.Second-tokenMargin), nil
}
