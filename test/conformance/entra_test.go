package conformance

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
)

// entra answers for login.microsoftonline.com inside the process: a token that names
// the tenant and client it was made for, which is what the transcripts show.
func entra() *http.Client {
	return &http.Client{Transport: roundTrip(func(r *http.Request) *http.Response {
		out := httptest.NewRecorder()
		out.Header().Set("Content-Type", "application/json")
		tenant := "https://" + r.URL.Host + "/" + strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", 2)[0]
		switch {
		case r.URL.Host != "login.microsoftonline.com":
			out.WriteHeader(http.StatusBadGateway)
		case strings.HasSuffix(r.URL.Path, "/openid-configuration"):
			fmt.Fprintf(out, `{"token_endpoint":"%[1]s/oauth2/v2.0/token","authorization_endpoint":"%[1]s/oauth2/v2.0/authorize","issuer":"%[1]s/v2.0"}`, tenant)
		case strings.Contains(r.URL.Path, "/discovery/instance"):
			fmt.Fprintf(out, `{"tenant_discovery_endpoint":"%s/v2.0/.well-known/openid-configuration","metadata":[]}`, tenant)
		case r.ParseForm() != nil || r.Form.Get("grant_type") != "client_credentials" || r.Form.Get("client_secret") == "":
			out.WriteHeader(http.StatusBadRequest)
		default:
			scope, _, _ := strings.Cut(r.Form.Get("scope"), " ")
			fmt.Fprintf(out, `{"token_type":"Bearer","expires_in":3599,"access_token":"token of %s for %s"}`, r.Form.Get("client_id"), scope)
		}
		return out.Result()
	})}
}

// roundTrip is a function that answers requests.
type roundTrip func(*http.Request) *http.Response

// RoundTrip calls the function.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }
