package control_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sluice/internal/kernel/ident"
	"sluice/internal/storage/sqlstore/storetest"
)

// reference is a field of a body that names a record: "<REF>" stands for its id or slug.
type reference struct {
	route string // "POST /providers"
	body  string
	named string // what the field names, in the words of the table of who may do what: "integration"
}

// references are all fields of bodies that name records of the caller's organisation.
var references = slices.Concat([]reference{
	{"PUT /admin/organisation/defaults", `{"input_guardrails":["<REF>"]}`, "rule"},
	{"PUT /admin/organisation/defaults", `{"output_guardrails":["<REF>"]}`, "rule"},
	{"PUT /organisations/self", `{"defaults":{"input_guardrails":["<REF>"]}}`, "rule"},
	{"PUT /organisations/self", `{"defaults":{"output_guardrails":["<REF>"]}}`, "rule"},
	{"PUT /organisations/self", `{"defaults":{"default_workspace":"<REF>"}}`, "ws"},
	{"POST /admin/users/invites", `{"email":"guest{n}@acme.example","role":"member","workspaces":[{"id":"<REF>","role":"member"}]}`, "ws"},
	{"POST /admin/workspaces", `{"name":"W{n}","users":["<REF>"]}`, "member"},
	{"POST /admin/workspaces", `{"name":"W{n}","defaults":{"config_id":"<REF>"}}`, "config"}, // a new workspace has none
	{"POST /admin/workspaces", `{"name":"W{n}","defaults":{"user_api_key_config":"<REF>"}}`, "config"},
	{"POST /admin/workspaces", `{"name":"W{n}","defaults":{"input_guardrails":["<REF>"]}}`, "rule"},
	{"POST /admin/workspaces", `{"name":"W{n}","defaults":{"output_guardrails":["<REF>"]}}`, "rule"},
	{"PUT /admin/workspaces/<ws>", `{"defaults":{"config_id":"<REF>"}}`, "config"},
	{"PUT /admin/workspaces/<ws>", `{"defaults":{"user_api_key_config":"<REF>"}}`, "config"},
	{"PUT /admin/workspaces/<ws>", `{"defaults":{"input_guardrails":["<REF>"]}}`, "guardrail"},
	{"PUT /admin/workspaces/<ws>", `{"defaults":{"output_guardrails":["<REF>"]}}`, "guardrail"},
	{"POST /admin/workspaces/<ws>/users", `{"users":[{"id":"<REF>","role":"member"}]}`, "spare"},
	{"PUT /workspace-exclusions/input-guardrails", `{"workspaces":[{"workspace_id":"<REF>","excluded":true}]}`, "ws"},
	{"POST /secret-references", `{"name":"R{n}","manager_type":"aws_sm","auth_config":{"aws_auth_type":"serviceRole"},"secret_path":"p","allow_all_workspaces":false,"allowed_workspaces":["<REF>"]}`, "ws"},
	{"PUT /secret-references/<reference>", `{"allow_all_workspaces":false,"allowed_workspaces":["<REF>"]}`, "ws"},
	{"POST /api-keys/workspace/service", `{"name":"S{n}","scopes":["configs.list"],"defaults":{"config_id":"<REF>"}}`, "config"},
	{"POST /api-keys/workspace/user", `{"name":"U{n}","scopes":["configs.list"],"user_id":"<REF>"}`, "member"},
	{"PUT /api-keys/<servicekey>", `{"defaults":{"config_id":"<REF>"}}`, "config"},
	{"POST /providers", `{"name":"P{n}","integration_id":"<REF>"}`, "integration"},
	{"POST /mcp-servers", `{"name":"T{n}","mcp_integration_id":"<REF>"}`, "tools"},
	{"POST /agent-servers", `{"name":"G{n}","agent_integration_id":"<REF>"}`, "agent"},
	{"PUT /mcp-servers/<toolserver>/user-access", `{"user_access":[{"user_id":"<REF>","enabled":false}]}`, "member"},
	{"PUT /agent-servers/<agentserver>/user-access", `{"user_access":[{"user_id":"<REF>","enabled":false}]}`, "member"},
	{"POST /configs", `{"name":"C{n}","config":{"provider":"openai","api_key":"sk-x","input_guardrails":["<REF>"]}}`, "guardrail"},
	{"PUT /configs/<config>", `{"config":{"provider":"openai","api_key":"sk-x","output_guardrails":["<REF>"]}}`, "guardrail"},
	{"POST /guardrails/test", `{"guardrail":"<REF>","phase":"output","text":"Hi"}`, "guardrail"},
	{"POST /guardrails/<guardrail>/dry-run", `{"from":"2026-11-20T00:00:00Z","to":"2026-11-21T00:00:00Z","api_key_id":"<REF>"}`, "servicekey"},
	{"POST /collections", `{"name":"F{n}","parent_collection_id":"<REF>"}`, "collection"},
	{"POST /prompts", `{"name":"T{n}","collection_id":"<REF>","string":"Hi","parameters":{},"virtual_key":"","model":"gpt-4o"}`, "folder"},
	{"POST /prompts", `{"name":"T{n}","collection_id":"<folder>","string":"Hi","parameters":{},"virtual_key":"<REF>","model":"gpt-4o"}`, "provider"},
	{"POST /prompts", `{"name":"T{n}","collection_id":"<folder>","string":"Hi {{><REF>}}","parameters":{},"virtual_key":"","model":"gpt-4o"}`, "partial"},
	{"PUT /prompts/<prompt>", `{"collection_id":"<REF>"}`, "folder"},
	{"PUT /prompts/<prompt>", `{"string":"Hi","parameters":{},"virtual_key":"<REF>","model":"gpt-4o"}`, "provider"},
	{"PUT /prompts/<prompt>/versions/<version>", `{"label_id":"<REF>"}`, "label"},
	{"POST /prompts/partials", `{"name":"Y{n}","string":"Bye","collection_id":"<REF>"}`, "folder"},
	{"PUT /prompts/partials/<partial>", `{"collection_id":"<REF>"}`, "folder"},
	{"POST /logs/<log>/replay", `{"model":"gpt-4o","api_key_id":"<REF>"}`, "userkey"},
	{"POST /logs/exports", `{"filters":{"workspace_slug":"<REF>"},"requested_data":["id"]}`, "ws"},
	{"PUT /logs/exports/<export>", `{"filters":{"workspace_slug":"<REF>"}}`, "ws"},
	{"POST /model-configs/pricing/re-rate", `{"time_of_generation_min":"2026-11-20T00:00:00Z","time_of_generation_max":"2026-11-21T00:00:00Z","dry_run":true,"integration_id":"<REF>"}`, "integration"},
}, workspaceReferences(), referencesOfSecrets(), referencesOfPolicies())

// workspaceReferences are the workspaces that integrations are granted to.
func workspaceReferences() (all []reference) {
	for _, path := range []string{"/integrations/<shared>", "/mcp-integrations/<sharedtools>", "/agent-integrations/<sharedagent>"} {
		all = append(all, reference{"PUT " + path + "/workspaces", `{"workspaces":[{"id":"<REF>","enabled":true}]}`, "ws"})
	}
	return all
}

// referencesOfSecrets are the secret references of mappings.
func referencesOfSecrets() (all []reference) {
	for path, body := range map[string]string{
		"/integrations":       `"name":"I{n}","ai_provider_id":"groq",`,
		"/virtual-keys":       `"name":"V{n}","provider":"groq","slug":"vk-{n}",`,
		"/mcp-integrations":   `"name":"I{n}","url":"http://tools.upstream.example/mcp","auth_type":"none","transport":"http",`,
		"/agent-integrations": `"name":"I{n}","url":"http://older.upstream.example/.well-known/agent.json",`,
	} {
		field := "key"
		if strings.HasSuffix(path, "p-integrations") || strings.HasSuffix(path, "t-integrations") {
			field = "configurations.custom_headers.x-token"
		}
		mapping := `"secret_mappings":[{"target_field":"` + field + `","secret_reference_id":"<REF>"}]}`
		all = append(all, reference{"POST " + path, "{" + body + mapping, "reference"})
		record := map[string]string{"/integrations": "<integration>", "/virtual-keys": "<virtualkey>", "/mcp-integrations": "<tools>", "/agent-integrations": "<agent>"}[path]
		all = append(all, reference{"PUT " + path + "/" + record, "{" + mapping, "reference"})
	}
	return all
}

// referencesOfPolicies are what the conditions of policies name.
func referencesOfPolicies() (all []reference) {
	for key, named := range map[string]string{"api_key": "servicekey", "workspace_id": "ws", "virtual_key": "provider", "config": "config", "prompt": "prompt", "organisation_id": "org"} {
		for _, conditions := range []string{
			`"conditions":[{"key":"` + key + `","value":"<REF>"}]`, `"conditions":[{"key":"` + key + `","value":"*","excludes":["<REF>"]}]`,
		} {
			for path, rest := range map[string]string{"rate-limits": `"type":"requests","unit":"rpm","value":5`, "usage-limits": `"type":"cost","credit_limit":5`} {
				all = append(all,
					reference{"POST /policies/" + path, "{" + conditions + "," + rest + "}", named},
					reference{"POST /policies/" + path + "/dry-run", `{"policy":{` + conditions + "," + rest + "}}", named},
					reference{"PUT /policies/" + path + map[string]string{"rate-limits": "/<rate>", "usage-limits": "/<budget>"}[path], "{" + conditions + "}", named})
			}
		}
	}
	return all
}

// TestReferencesRevealNoRecordsOfOthers: a body that names a record which the caller cannot
// read is answered like one that names nothing, by id and by slug.
func TestReferencesRevealNoRecordsOfOthers(t *testing.T) {
	t.Parallel()
	w := newAccessWorld(t, storetest.Open(t, storetest.SQLite(t)))
	for _, c := range callers {
		if c.name != "admin" && c.name != "service" && c.name != "manager-session" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, ref := range references {
				w.guessReference(t, c, ref)
			}
		})
	}
}

// hidden are records of the organisation that no workspace may use, by what a workspace has
// in their place.
var hidden = map[string]string{"servicekey": "adminkey", "integration": "shared", "tools": "sharedtools", "agent": "sharedagent"}

// free are the fields that name a record where there can be none yet, that only some callers
// may send, or that count without looking whether the record is there.
var free = []string{`"defaults":{"config_id"`, `"defaults":{"user_api_key_config"`, `"api_key_id"`, `{"policy":`}

func (w *accessWorld) guessReference(t *testing.T, c caller, ref reference) {
	t.Helper()
	method, path, _ := strings.Cut(ref.route, " ")
	at := slices.IndexFunc(w.lines, func(l *rightsOf) bool { return l.method == method && l.path == path && w.mayAtCallerSite(c, l) })
	if at < 0 {
		return
	}
	l := *w.lines[at]
	home, workspaces := w.callerSite(c), []string{""}
	if l.inWorkspace && (l.named || !l.namesRecord()) && c.key != "S" {
		workspaces = append(workspaces, home.ws)
	}
	for _, workspace := range workspaces {
		w.compareReferences(t, c, ref, func(value string) string {
			l.body = strings.ReplaceAll(ref.body, "<REF>", value)
			rec := w.send(t, c.name, &l, home.ids, workspace)
			if rec.Code == http.StatusOK { // the rest is what was made
				return rec.Result().Status
			}
			return strings.ReplaceAll(rec.Result().Status+" "+rec.Body.String(), value, "VALUE")
		}, workspace == workspaces[len(workspaces)-1])
	}
}

// compareReferences sends ids and slugs of what a caller cannot read, and of what is
// nowhere. With control what the caller has must be answered in another way.
func (w *accessWorld) compareReferences(t *testing.T, c caller, ref reference, ask func(value string) string, control bool) {
	t.Helper()
	home, nowhere := w.callerSite(c), map[bool]string{true: ask(ident.NewID()), false: ask("nowhere-at-all")}
	readable := home.ids[ref.named]
	try := func(value string, byID bool, record string) {
		if value == "" || value == w.slugs[readable] {
			return
		}
		if got := ask(value); got != nowhere[byID] {
			t.Errorf("%s %s with the %s of %s: %.300s, and elsewhere %.300s", ref.route, ref.body, ref.named, record, got, nowhere[byID])
		}
	}
	for _, record := range w.unseen(c) {
		if there := record.ids[ref.named]; there != readable {
			try(there, true, record.name)
			try(w.slugs[there], false, record.name)
		}
	}
	if id := home.ids[hidden[ref.named]]; id != "" && c.name != "admin" {
		try(id, true, "the organisation")
		try(w.slugs[id], false, "the organisation")
	}
	if !control || slices.ContainsFunc(free, func(f string) bool { return strings.Contains(ref.body, f) }) {
		return
	}
	if ask(readable) == nowhere[true] && (w.slugs[readable] == "" || ask(w.slugs[readable]) == nowhere[false]) {
		t.Errorf("%s %s as %s shows nothing: the own %s is answered as what is nowhere: %.300s", ref.route, ref.body, c.name, ref.named, nowhere[true])
	}
}

// noReferences are fields that look like references to records of callers and are none: the
// catalogue, what the body itself makes, places that TestAccess guesses, and what filters
// take without looking.
var noReferences = regexp.MustCompile(`(^|\.)(slug|slugs\.\[\]|organisation_id|workspace_id|ai_provider_id|ai_model_id|default_provider_slug|base_model_slug|trace_id|prompt_slug(\.\[\])?|client_id|sso_client_id)$` +
	`|^(checks|skills|models)\.\[\]\.(id|slug)$|^auth_settings\.(remove_)?workspaces_allowed\.\[\]$|^config$|^\[\]\.`)

var looksLikeReference = regexp.MustCompile(`(^|[._])(id|slug|config|virtual_key|default_workspace|workspace_id)$|(guardrails|workspaces|users|ids|slugs|workspaces_allowed)\.\[\]$`)

// TestReferencesAreComplete: every field of a body that looks like a reference is one of the
// table above.
func TestReferencesAreComplete(t *testing.T) {
	t.Parallel()
	a := plainAdmin()
	described, known := newDescribed(t, a), knownReferences(t)
	for _, route := range a.Routes() {
		method, path, _ := strings.Cut(route, " ")
		item := described.doc.Paths.Value("/" + strings.TrimPrefix(path, "/"))
		if item == nil || item.GetOperation(method) == nil || item.GetOperation(method).RequestBody == nil {
			continue
		}
		media := item.GetOperation(method).RequestBody.Value.Content.Get("application/json")
		for _, field := range textsOf(media.Schema, "") {
			if looksLikeReference.MatchString(field) && !noReferences.MatchString(field) && !known(route, field) {
				t.Errorf("%s: %s is in no line of the references: say what it names", route, field)
			}
		}
	}
}

// knownReferences reports whether the table has a field of a route.
func knownReferences(t *testing.T) func(route, field string) bool {
	t.Helper()
	return func(route, field string) bool {
		method, path, _ := strings.Cut(route, " ")
		return slices.ContainsFunc(references, func(r reference) bool {
			m, p, _ := strings.Cut(r.route, " ")
			for readable, also := range aliases {
				if strings.HasPrefix(path, also) {
					path = readable + strings.TrimPrefix(path, also)
				}
			}
			var body any
			if err := json.Unmarshal([]byte(r.body), &body); err != nil {
				t.Fatalf("%s: %v", r.body, err)
			}
			return m == method && fits(path, p) && slices.Contains(namedIn(body, ""), field)
		})
	}
}

// namedIn are the paths of the references in a body.
func namedIn(v any, at string) (fields []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, in := range v {
			fields = append(fields, namedIn(in, strings.TrimPrefix(at+"."+name, "."))...)
		}
	case []any:
		for _, in := range v {
			fields = append(fields, namedIn(in, strings.TrimPrefix(at+".[]", "."))...)
		}
	case string:
		if strings.Contains(v, "<REF>") {
			fields = append(fields, at)
		}
	}
	return fields
}

// textsOf are the paths of the texts of a schema: "workspaces.[].id".
func textsOf(ref *openapi3.SchemaRef, at string) (fields []string) {
	if ref == nil || ref.Value == nil || strings.Count(at, ".") > 6 {
		return nil
	}
	s := ref.Value
	for name, in := range s.Properties {
		fields = append(fields, textsOf(in, strings.TrimPrefix(at+"."+name, "."))...)
	}
	if s.Items != nil {
		fields = append(fields, textsOf(s.Items, strings.TrimPrefix(at+".[]", "."))...)
	}
	for _, in := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		fields = append(fields, textsOf(in, at)...)
	}
	if s.Type.Includes("string") && len(s.Enum) == 0 {
		fields = append(fields, at)
	}
	return fields
}
