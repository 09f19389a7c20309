package sign_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

const pool = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x"

// exchange is Google's token exchange, and the service that lets a token act as a service
// account. Its tokens say who asked.
type exchange struct {
	now   time.Time
	calls int
	fail  string // "exchange", "account"
	life  time.Duration
}

func (e *exchange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.calls++
	switch r.Header.Get("X-Asked-For") + r.URL.Path {
	case "sts.googleapis.com/v1/token":
		who, err := e.who(r)
		if err != nil || e.fail == "exchange" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":"invalid_grant","error_description":"%v"}`, err)
			return
		}
		fmt.Fprintf(w, `{"access_token":"%s","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"Bearer","expires_in":3600}`, who)
	case "iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/robot@p.iam.gserviceaccount.com:generateAccessToken":
		var request struct {
			Scope    []string
			Lifetime string
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Scope) != 1 || request.Lifetime != "3600s" || e.fail == "account" {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"error":{"code":403,"message":"not allowed"}}`)
			return
		}
		fmt.Fprintf(w, `{"accessToken":"robot for %s","expireTime":%q}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), e.now.Add(e.life).Format(time.RFC3339))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// who reads the word that is exchanged.
func (e *exchange) who(r *http.Request) (string, error) {
	if err := r.ParseForm(); err != nil {
		return "", err
	}
	if r.Form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:token-exchange" || r.Form.Get("audience") != pool || r.Form.Get("scope") == "" {
		return "", fmt.Errorf("asked with %v", r.Form)
	}
	token := r.Form.Get("subject_token")
	if r.Form.Get("subject_token_type") == "urn:ietf:params:oauth:token-type:jwt" {
		return "jwt " + token, nil
	}
	text, err := url.QueryUnescape(token)
	if err != nil {
		return "", err
	}
	var request struct {
		URL, Method string
		Headers     []struct{ Key, Value string }
	}
	if err := json.Unmarshal([]byte(text), &request); err != nil {
		return "", err
	}
	h := map[string]string{}
	for _, f := range request.Headers {
		h[f.Key] = f.Value
	}
	if request.URL != "https://sts.us-east-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15" || request.Method != "POST" || h["host"] != "sts.us-east-1.amazonaws.com" ||
		h["x-goog-cloud-target-resource"] != pool || h["x-amz-date"] == "" || !strings.Contains(h["authorization"], "/us-east-1/sts/aws4_request, SignedHeaders=host;x-amz-date;x-goog-cloud-target-resource, Signature=") {
		return "", fmt.Errorf("signed %s %v", request.URL, h)
	}
	_, key, _ := strings.Cut(h["authorization"], "Credential=")
	key, _, _ = strings.Cut(key, "/")
	return "aws " + key, nil
}

func federation(t *testing.T, e *exchange, set sign.GCP) *sign.Set {
	t.Helper()
	clock := &ticking{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	e.now, e.life = clock.now, time.Hour
	return sign.New(sign.Options{
		HTTP: redirect(t, e), Clock: clock, GCP: set, AWS: sign.AWS{AccessKeyID: "AKIDHOST", SecretAccessKey: sealed.New("secret")},
	})
}

func TestGCPFederation(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("a.b.c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const robot = "robot@p.iam.gserviceaccount.com"
	for _, c := range []struct {
		name, mode string
		set        sign.GCP
		want       string
		calls      int
	}{
		{"AWS", "workload identity federation", sign.GCP{Audience: pool}, "Bearer aws AKIDHOST", 1},
		{"AWS, as a service account", "workload", sign.GCP{Mode: "federation", Audience: pool, ServiceAccount: robot}, "Bearer robot for aws AKIDHOST", 2},
		{"a file", "workload", sign.GCP{Audience: pool, TokenFile: file}, "Bearer jwt a.b.c", 1},
	} {
		e := &exchange{}
		set := federation(t, e, c.set)
		for range 2 {
			if got, err := gcpSign(t.Context(), set, provider.Values{"vertex_auth_type": c.mode}); got != c.want || err != nil || e.calls != c.calls {
				t.Errorf("%s: %q after %d calls, %v", c.name, got, e.calls, err)
			}
		}
	}
}

// The mode decides even where there is an audience.
func TestGCPModeOfTheMachine(t *testing.T) {
	t.Parallel()
	g := &google{life: 3600}
	set := sign.New(sign.Options{HTTP: redirect(t, g), GCP: sign.GCP{Mode: "workload", Audience: pool}})
	if got, err := gcpSign(t.Context(), set, provider.Values{"vertex_auth_type": "workload identity federation"}); got != "Bearer machine at metadata.google.internal #1" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

func TestGCPFederationRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fail string
		set  sign.GCP
		text string
	}{
		{"exchange", sign.GCP{Audience: pool}, "invalid_grant"},
		{"account", sign.GCP{Audience: pool, ServiceAccount: "robot@p.iam.gserviceaccount.com"}, "status 403: not allowed"},
		{"", sign.GCP{Mode: "federation"}, "CLOUD_WIF_AUDIENCE"},
		{"", sign.GCP{Audience: pool, TokenFile: "/nowhere/token"}, "no such file"},
	} {
		got, err := gcpSign(t.Context(), federation(t, &exchange{fail: c.fail}, c.set), provider.Values{"vertex_auth_type": "workload"})
		if !fault.Has(err, fault.Unauthenticated) || got != "" || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %q %v", c.text, got, err)
		}
	}
}
