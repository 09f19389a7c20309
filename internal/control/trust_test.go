package control_test

import (
	"encoding/json"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"sluice/internal/domain/identity"
	"sluice/internal/kernel/access"
	"sluice/internal/storage/sqlstore/storetest"
)

// raw is a request as it is, with headers besides, and its answer.
func (w *world) raw(t *testing.T, caller, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = "198.51.100.9:40000"
	if s := w.key(caller); identity.IsToken(s) {
		r.Header.Set("Authorization", "Bearer "+s)
	} else if s != "" {
		r.Header.Set("x-gateway-api-key", s)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	w.admin.Handler().ServeHTTP(rec, r)
	return rec
}

// An invitation's token is a credential until it is used: paths that are logged do not have it.
func TestInviteTokenIsMasked(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	if got := w.admin.ShownPath("POST", "/v1/admin/users/invites/THE-TOKEN/accept"); strings.Contains(got, "THE-TOKEN") {
		t.Errorf("logs show %s", got)
	}
}

// Guesses that come at once are bounded as those are that come one after the other, but for those whose password is being hashed already.
func TestGuessesAtOnce(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]int{}
	for range 60 {
		wg.Go(func() {
			rec := w.raw(t, "nobody", "POST", "/v1/auth/login", `{"email":"x@acme.example","password":"s3cr3t-guess-1"}`)
			mu.Lock()
			seen[rec.Code]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if seen[401] > 10+runtime.GOMAXPROCS(0) || seen[429] == 0 {
		t.Errorf("answers: %v", seen)
	}
}

// Another site cannot sign a browser in, as somebody of its choice.
func TestLoginOfAnotherSite(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	invited := w.raw(t, "admin", "POST", "/v1/admin/users/invites", `{"email":"eve@acme.example","role":"member"}`).Body.String()
	token := invited[strings.Index(invited, "token=")+6:]
	token = token[:strings.IndexAny(token, `"&\`)]
	if rec := w.raw(t, "nobody", "POST", "/v1/admin/users/invites/"+token+"/accept", `{"password":"correct horse battery"}`); rec.Code != 200 {
		t.Fatal(rec.Body)
	}
	rec := w.raw(t, "nobody", "POST", "/v1/auth/login", `{"email":"eve@acme.example","password":"correct horse battery"}`,
		"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example", "Content-Type", "text/plain")
	if rec.Code == 200 {
		t.Errorf("another site signs a browser in: %d %s", rec.Code, rec.Header().Get("Set-Cookie"))
	}
}

// signIn invites somebody and returns the token of their session.
func (w *world) signIn(t *testing.T, email, role, workspaces string) (session, id string) {
	t.Helper()
	invited := w.raw(t, "admin", "POST", "/v1/admin/users/invites", `{"email":"`+email+`","role":"`+role+`","workspaces":[`+workspaces+`]}`).Body.String()
	_, token, ok := strings.Cut(invited, "token=")
	if !ok {
		t.Fatal(invited)
	}
	token = token[:strings.IndexAny(token, "\"&")]
	if rec := w.raw(t, "nobody", "POST", "/v1/admin/users/invites/"+token+"/accept", `{"password":"correct horse battery"}`); rec.Code != 200 {
		t.Fatal(rec.Body)
	}
	rec := w.raw(t, "nobody", "POST", "/v1/auth/login", `{"email":"`+email+`","password":"correct horse battery"}`)
	var out struct {
		Token  string `json:"token"`
		UserID string `json:"user_id"`
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &out); err != nil || out.Token == "" {
		t.Fatal(rec.Body)
	}
	w.keys[email] = out.Token
	return out.Token, out.UserID
}

// Managers do not take off what binds them.
func TestManagersStayBound(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.signIn(t, "max@acme.example", "member", `{"id":"ws-main","role":"manager"}`)
	if rec := w.raw(t, "admin", "PUT", "/v1/organisations/self", `{"workspace_overrides":{"api_keys":true,"logs":true,"data_visibility":true}}`); rec.Code != 200 {
		t.Fatal(rec.Body)
	}
	if rec := w.raw(t, "admin", "PUT", "/v1/workspaces/ws-main", `{"security_settings":{"managersWriteApiKeys":false,"managersViewLogs":false,"managersViewAllData":false,"managersUpdateWs":true}}`); rec.Code != 200 {
		t.Fatal(rec.Body)
	}
	make := func() int {
		return w.raw(t, "max@acme.example", "POST", "/v1/api-keys/workspace/service", `{"name":"mine","workspace_id":"ws-main","scopes":["completions.write"]}`).Code
	}
	if code := make(); code == 200 {
		t.Fatal("the toggles bind nobody")
	}
	w.raw(t, "max@acme.example", "PUT", "/v1/workspaces/ws-main", `{"security_settings":{"managersWriteApiKeys":true,"managersViewLogs":true,"managersViewAllData":true}}`)
	if code := make(); code == 200 {
		t.Errorf("a manager took the bounds off that an admin had set")
	}
}

// Who is an admin no more keeps no keys in workspaces they do not belong to.
func TestDemotedAdminLosesKeys(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	_, id := w.signIn(t, "ada@acme.example", "admin", ``)
	rec := w.raw(t, "ada@acme.example", "POST", "/v1/api-keys/workspace/user", `{"name":"mine","workspace_id":"ws-main","scopes":["completions.write"]}`)
	var made struct {
		Key string `json:"key"`
	}
	_ = json.Unmarshal(rec.Body.Bytes(), &made)
	w.raw(t, "admin", "PUT", "/v1/admin/users/"+id, `{"role":"member"}`)
	r := httptest.NewRequest("POST", "/v1/chat/completions", nil)
	r.Header.Set("x-gateway-api-key", made.Key)
	p, err := w.authenticate(r) // what the data plane does: the key, its user's standing, the check of the key
	if err == nil && access.CanCall(p, access.CompletionsWrite) == nil {
		t.Errorf("who belongs to the workspace no more has a key there that sends traffic: places %v", p.Memberships)
	}
}

// A token of a vault is not sent to another address than it was stored for.
func TestReferenceStaysWithItsHost(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	rec := w.raw(t, "admin", "POST", "/v1/secret-references", `{"name":"v","slug":"vv","manager_type":"hashicorp_vault","secret_path":"secret/data/x","auth_config":{"vault_auth_type":"token","vault_addr":"https://vault.example","vault_token":"hvs.the-real-token-123456"}}`)
	if rec.Code != 200 {
		t.Fatal(rec.Body)
	}
	rec = w.raw(t, "admin", "PUT", "/v1/secret-references/vv", `{"auth_config":{"vault_addr":"https://evil.example"}}`)
	if rec.Code == 200 {
		t.Errorf("%s", w.raw(t, "admin", "GET", "/v1/secret-references/vv", "").Body)
	}
}

// A stored key is not sent to another host than it was stored for.
func TestKeyStaysWithItsHost(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	rec := w.raw(t, "service", "POST", "/v1/integrations", `{"name":"x","slug":"hunt","ai_provider_id":"openai","key":"sk-upstream-secret-1234567890"}`)
	if rec.Code != 200 {
		t.Fatal(rec.Body)
	}
	rec = w.raw(t, "service", "PUT", "/v1/integrations/hunt", `{"configurations":{"custom_host":"https://evil.example/v1"}}`)
	get := w.raw(t, "service", "GET", "/v1/integrations/hunt", "")
	if rec.Code == 200 && strings.Contains(get.Body.String(), "evil.example") && strings.Contains(get.Body.String(), `"masked_key":"sk`) {
		t.Errorf("the stored key goes to another host now: %s", get.Body)
	}
}

// A token of the gateway's machine is not sent to a host of whoever saves a provider.
func TestOwnIdentityStays(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for _, c := range []struct {
		path, body string
		code       int
	}{
		{"/v1/integrations", `{"name":"a","ai_provider_id":"vertex-ai","configurations":{"vertex_auth_type":"workload","vertex_region":"us-east1","vertex_project_id":"p","custom_host":"https://evil.example/v1"}}`, 400},
		{"/v1/integrations", `{"name":"b","ai_provider_id":"azure-ai","configurations":{"azure_auth_mode":"managed","azure_foundry_url":"https://evil.example/v1"}}`, 400},
		{"/v1/integrations", `{"name":"c","ai_provider_id":"bedrock","configurations":{"aws_auth_type":"serviceRole","aws_service":"secretsmanager","custom_host":"https://secretsmanager.us-east-1.amazonaws.com"}}`, 400},
		{"/v1/integrations", `{"name":"d","ai_provider_id":"bedrock","configurations":{"aws_auth_type":"serviceRole"}}`, 200},
		{"/v1/integrations", `{"name":"e","ai_provider_id":"bedrock","configurations":{"aws_auth_type":"serviceRole","custom_host":"https://llm.corp/v1"}}`, 200},
		{"/v1/integrations", `{"name":"f","ai_provider_id":"bedrock","configurations":{"aws_auth_type":"serviceRole","custom_host":"https://llm.corp:8443/v1"}}`, 400}, // trusted, and not listed for credentials
	} {
		rec := w.raw(t, "admin", "POST", c.path+"?workspace_id=ws-main", c.body)
		if rec.Code != c.code || c.code == 400 && !strings.Contains(rec.Body.String(), "identity of the gateway") {
			t.Errorf("%s: %d %s", c.body, rec.Code, rec.Body)
		}
	}
}

// Who administers the organisation says what signs with the identity of the gateway's machine,
// in whichever kind of record; others may change what has nothing to do with it.
func TestWhoLendsTheIdentityOfTheMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	w.signIn(t, "wanda@acme.example", "member", `{"id":"ws-main","role":"admin"}`)
	w.signIn(t, "olga@acme.example", "admin", "")
	const bedrock = `"aws_auth_type":"assumedRole","aws_role_arn":"arn:aws:iam::123456789012:role/of-others","aws_region":"eu-west-1"`
	for _, body := range []string{
		`/v1/integrations {"name":"lent","slug":"lent","workspace_id":"ws-main","ai_provider_id":"bedrock","configurations":{` + bedrock + `}}`,
		`/v1/virtual-keys {"name":"v","workspace_id":"ws-main","provider":"bedrock","awsAuthType":"assumedRole","awsRoleArn":"arn:aws:iam::123456789012:role/of-others"}`,
		`/v1/configs {"name":"c","workspace_id":"ws-main","config":{"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","api_key":"k"},{"provider":"bedrock",` + bedrock + `}]}}`,
	} {
		path, body, _ := strings.Cut(body, " ")
		for caller, want := range map[string]int{"service": 403, "wanda@acme.example": 403, "admin": 200} {
			if rec := w.raw(t, caller, "POST", path, body); rec.Code != want || want == 403 && !strings.Contains(rec.Body.String(), "organisation_integrations.create") {
				t.Errorf("%s by %s: %d %s", path, caller, rec.Code, rec.Body)
			}
		}
		if rec := w.raw(t, "olga@acme.example", "POST", path, strings.NewReplacer(`"name":"`, `"name":"2`, `"slug":"`, `"slug":"2`).Replace(body)); rec.Code != 200 {
			t.Errorf("%s by an admin of the organisation: %d %s", path, rec.Code, rec.Body)
		}
	}
	for body, want := range map[string]int{
		`{"name":"renamed"}`:                                 200,
		`{"configurations":{` + bedrock + `}}`:               200, // as it is
		`{"configurations":{"aws_auth_type":"serviceRole"}}`: 403,
	} {
		if rec := w.raw(t, "service", "PUT", "/v1/integrations/lent", body); rec.Code != want {
			t.Errorf("a change to %s: %d %s", body, rec.Code, rec.Body)
		}
	}
}

// A server of a workspace is tried with no secret that the workspace may not use, whosever
// integration it belongs to.
func TestTrialsKeepToAllowedWorkspaces(t *testing.T) {
	w := newWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for _, step := range [][2]string{
		{"POST /v1/secret-references", `{"name":"Vault","slug":"vault","manager_type":"hashicorp_vault","auth_config":{"vault_auth_type":"token","vault_addr":"https://vault.example.com","vault_token":"s3cr3t-of-the-vault"},"secret_path":"secret/data/tools","allowed_workspaces":["ws-main"]}`},
		{"POST /v1/mcp-integrations", `{"name":"Mapped","slug":"mapped","url":"http://tools.upstream.example/mcp","auth_type":"headers","transport":"http","secret_mappings":[{"target_field":"custom_headers.Authorization","secret_reference_id":"vault"}]}`},
		{"PUT /v1/mcp-integrations/mapped/workspaces", `{"workspaces":[{"id":"ws-main","enabled":true},{"id":"ws-two","enabled":true}]}`},
		{"POST /v1/mcp-servers", `{"name":"Here","slug":"here","mcp_integration_id":"mapped","workspace_id":"ws-main"}`},
		{"POST /v1/mcp-servers", `{"name":"There","slug":"there","mcp_integration_id":"mapped","workspace_id":"ws-two"}`},
	} {
		method, path, _ := strings.Cut(step[0], " ")
		if rec := w.raw(t, "admin", method, path, step[1]); rec.Code != 200 {
			t.Fatalf("%s: %s", step[0], rec.Body)
		}
	}
	for server, want := range map[string]string{"here": `"success":true`, "there": "cannot be read"} {
		if got := w.raw(t, "admin", "POST", "/v1/mcp-servers/"+server+"/test", "").Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", server, got, want)
		}
	}
}
