package sluice

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// rule is a row of the import table: which packages of this module the packages of one kind may
// import. "@" in may stands for the folder of the importing package: its first two elements, such
// as "internal/dialect".
type rule struct {
	who []string
	may []string
	why string
}

// The layers. A package imports packages of lower layers only, and only those that its row names.
var (
	kernel = pathsBelow("internal", "fault ident background access lease llm sealed wire wire/syntax wire/socket wire/porttest packed splice kernel/...")
	domain = pathsBelow("internal", "mail/... tokens tenant/... keys/... credential/... deployment/... identity/... dialect/... routing/... provider/... guard/... quota/... ledger/... catalog/... jobs/... prompt/... record/... audit/... mcp/... agent/...")

	// dialectParts are the parts that dialects share.
	dialectParts = pathsBelow("internal/dialect", "claude conversation embeddings fields images jsonscan jsonschema jsonwriter media modellists pagination reranking signatures sniff surrogates toolcalls uploads upstreamerror usage")

	// controlShared are the parts of the control plane that several areas use.
	controlShared = pathsBelow("internal/control", "budgets defaults destination directory expiry grants outbox secretmapping sidedata sweep")

	// metrics are declared next to the code that they measure.
	metrics = []string{"internal/telemetry", "internal/telemetry/accesslog"}
)

// importRules is read from the top; the first row that covers a package applies.
var importRules = []rule{
	{[]string{".", "api"}, nil,
		"the root contains rules, not code; api contains the published description"},
	{pathsBelow("internal", "fault ident background kernel/atomicfile"), nil,
		"every other package uses them, so they import none"},
	{pathsBelow("internal", "access lease llm sealed packed wire wire/socket wire/porttest kernel/boundedcache"), pathsBelow("internal", "fault ident"),
		"packages of the kernel serve every other package; they import fault and ident only"},
	{pathsBelow("internal", "splice wire/syntax"), pathsBelow("internal", "fault ident wire"),
		"these edit and read bytes; they import fault, ident and wire"},

	{pathsBelow("internal", "kernel/multipartedit"), pathsBelow("internal", "fault splice wire"),
		"form edits share the routing keys of JSON edits; they use fault, splice and wire"},

	{pathsBelow("internal", "dialect/registry"), all(kernel, "@/..."),
		"the list of dialects names each of them"},
	{[]string{"internal/dialect"}, all(kernel, dialectParts),
		"the root of dialect declares the interfaces; it may use the parts that dialects share"},
	{dialectParts, all(kernel, "@", dialectParts),
		"a shared part uses other shared parts and the interfaces, never a dialect"},
	{pathsBelow("internal", "dialect/*"), all(kernel, "@", dialectParts),
		"a dialect uses the interfaces and the shared parts, never another dialect: what two share becomes a shared part"},
	{domain, all(kernel, "@/..."),
		"a domain package imports the kernel, never another domain package; app connects two of them"},

	{pathsBelow("internal", "apidoc"), nil,
		"the API description is built from types, texts and recorded calls that it receives"},
	{pathsBelow("internal", "resource"), kernel,
		"the control-plane engine does not depend on any type of record"},
	{pathsBelow("internal", "resource/jsonfield resource/listing"), all(kernel, "internal/resource", "internal/resource/jsonfield"),
		"types of bodies and lists that resources share use the engine"},
	{controlShared, all(kernel, domain, "internal/resource/...", "internal/resource", controlShared),
		"a shared part uses the engine and the domain, never an area"},
	{pathsBelow("internal", "control/*"), all(kernel, domain, "internal/resource/...", "internal/worker", "internal/admin/rerate", controlShared),
		"an area uses the engine, the domain and shared parts, never another area; it takes a function or a small interface instead"},
	{pathsBelow("internal", "admin/..."), all(kernel, domain, "internal/worker", "internal/resource/...", "internal/control/...", "internal/apidoc", "api", "@/..."),
		"admin joins the areas of the API; it imports no store and not the data plane"},
	{pathsBelow("internal", "gateway/call"), all(kernel, domain),
		"the values of a request do not depend on any step"},
	{pathsBelow("internal", "gateway/metering/..."), all(kernel, domain, metrics, "internal/gateway/call", "internal/gateway/metering/..."),
		"metering takes the values of a call and returns values; it imports no other step"},
	{pathsBelow("internal", "gateway/*"), all(kernel, domain, metrics, "internal/gateway/call"),
		"a step of the gateway uses the values of a request and imports no other step; the gateway connects them"},
	{pathsBelow("internal", "dataplane"), all(kernel, domain, metrics, "internal/gateway/..."),
		"the data plane connects the steps of a request; it depends neither on stores nor on the HTTP server"},
	{pathsBelow("internal", "dataplane/front"), all(kernel, domain, metrics, "internal/dataplane", "internal/dataplane/front/h1", "internal/gateway/call", "internal/gateway/realtime"),
		"a front converts HTTP requests to calls of the data plane"},
	{pathsBelow("internal", "dataplane/front/h1"), kernel,
		"the HTTP/1.1 server reads and writes requests; it does not depend on the data plane"},
	{pathsBelow("internal", "gateway/nethttp/router"), all(kernel, "internal/dataplane", "internal/dataplane/front", "internal/dataplane/front/h1"),
		"the router contains the paths of model routes; it receives the administration as an interface"},
	{pathsBelow("internal", "limits/ratefile"), all(kernel, "internal/quota"),
		"the file stores the counters of the limiter; it imports no other store"},
	{pathsBelow("internal", "live"), all(kernel, domain, "internal/resource"),
		"live decodes stored records for the data plane; it receives the store as an interface"},
	{pathsBelow("internal", "worker/..."), all(kernel, domain, metrics),
		"the job runner uses interfaces that it declares"},
	{pathsBelow("internal", "store/... logstore/... journal/... cluster/... secretref/... spend"), all(kernel, domain, metrics, "internal/resource", "@/..."),
		"an adapter uses the types that it stores and imports no other adapter; app connects them"},
	{pathsBelow("internal", "storage/requestlog/retention"), all(kernel, domain, "internal/logstore"),
		"the job deletes logs; it receives the settings of workspaces as a function"},
	{pathsBelow("internal", "telemetry/*"), all(kernel, domain, "@/..."),
		"telemetry converts records; app connects it to their source"},
	{pathsBelow("internal", "config telemetry demo"), kernel,
		"any package may import them, so they import the kernel only"},

	{pathsBelow("internal", "ops/process ops/health"), kernel,
		"they report on the process; app passes the values"},
	{pathsBelow("internal", "ops/..."), all(kernel, domain, "internal/config", "internal/demo", "internal/resource", "internal/store", "internal/cluster/redis", "internal/telemetry/otlp", "@/..."),
		"operations read settings and the database; they never import the gateway or an area of the administration"},

	{pathsBelow("internal", "app/..."), []string{"internal/..."},
		"app connects all packages"},
	{[]string{"cmd/..."}, all(kernel, pathsBelow("internal", "app/... config telemetry telemetry/accesslog")),
		"a command converts flags and environment to a call of app"},
	{[]string{"internal/test/...", "test/..."}, []string{"internal/...", "test/..."},
		"tests may import everything"},
}

// all joins patterns and lists of them.
func all(parts ...any) []string {
	var out []string
	for _, part := range parts {
		switch p := part.(type) {
		case string:
			out = append(out, p)
		case []string:
			out = append(out, p...)
		}
	}
	return out
}

// find returns the rule for a package.
func find(name string) (rule, bool) {
	i := slices.IndexFunc(importRules, func(p rule) bool { return covers(p.who, name) })
	if i < 0 {
		return rule{}, false
	}
	return importRules[i], true
}

func TestImports_FollowTheRules(t *testing.T) {
	t.Parallel()
	for _, f := range readTree(t) {
		p, ok := find(f.path)
		if !ok {
			t.Errorf("%s has no import rule: add it to the rule of its kind in importRules (arch_test.go), or move it", f.path)
			continue
		}
		for _, name := range imports(f.code) {
			if target, ok := modulePath(name); ok && !p.allows(f.path, target) {
				t.Errorf("%s imports %s: %s", f.path, target, p.why)
			}
		}
	}
}

// allows reports whether a package of this rule may import target.
func (p rule) allows(name, target string) bool { return covers(expandOwn(p.may, name), target) }

// TestImportRules_MatchExamples checks the patterns above with examples.
func TestImportRules_MatchExamples(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		may      bool
	}{
		{"internal/fault", "internal/ident", false},
		{"internal/llm", "internal/fault", true},
		{"internal/llm", "internal/wire", false},
		{"internal/quota", "internal/llm", true},
		{"internal/quota", "internal/ledger", false},
		{"internal/quota", "internal/quota/window", true},
		{"internal/provider/transport", "internal/provider/netguard", true},
		{"internal/provider/transport", "internal/routing", false},
		{"internal/dialect/openai", "internal/dialect", true},
		{"internal/dialect/openai", "internal/dialect/jsonwriter", true},
		{"internal/dialect/openai", "internal/dialect/anthropic", false},
		{"internal/dialect/jsonwriter", "internal/dialect/openai", false},
		{"internal/dialect/registry", "internal/dialect/anthropic", true},
		{"internal/dataplane", "internal/routing", true},
		{"internal/dataplane", "internal/store", false},
		{"internal/dataplane", "internal/gateway/responsestore", true},
		{"internal/gateway/responsestore", "internal/dataplane", false},
		{"internal/gateway/responsestore", "internal/gateway/call", true},
		{"internal/dataplane", "internal/dataplane/front", false},
		{"internal/dataplane/front", "internal/dataplane", true},
		{"internal/store/storetest", "internal/store", true},
		{"internal/logstore", "internal/journal", false},
		{"internal/admin", "internal/store", false},
		{"internal/ops/hint", "internal/store", true},
		{"internal/ops/hint", "internal/dataplane", false},
		{"internal/ops/hint", "internal/admin", false},
		{"internal/app", "internal/store", true},
		{"cmd/sluice", "internal/store", false},
		{"cmd/sluice", "internal/app", true},
	} {
		p, ok := find(c.from)
		if !ok || p.allows(c.from, c.to) != c.may {
			t.Errorf("%s imports %s: got %v, want %v", c.from, c.to, !c.may, c.may)
		}
	}
	if _, ok := find("internal/stuff"); ok {
		t.Error("an unknown package has a rule")
	}
	tree := readTree(t)
	for _, p := range importRules {
		for _, who := range p.who {
			if !slices.ContainsFunc(tree, func(f *folder) bool { return covers([]string{who}, f.path) }) {
				t.Errorf("the rules name %s, which does not exist", who)
			}
		}
	}
}

// expandOwn replaces "@" in patterns with the folder of the importing package: its first two
// elements, such as "internal/dialect".
func expandOwn(patterns []string, name string) []string {
	parts := strings.SplitN(name, "/", 3)
	folder := strings.Join(parts[:min(2, len(parts))], "/")
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = strings.Replace(p, "@", folder, 1)
	}
	return out
}

// confined lists third-party packages, by the beginning of their paths, that only some packages may
// import.
var confined = []struct {
	what, by []string
	tests    bool // the rule holds for tests too
	why      string
}{
	{[]string{"github.com/duckdb/"}, pathsBelow("internal", "logstore/duckdb"), true,
		"its static library would be linked into every test binary"},
	{[]string{"github.com/uptrace/bun", "github.com/jackc/pgx", "github.com/go-sql-driver/mysql", "modernc.org/sqlite", "github.com/pressly/goose"},
		pathsBelow("internal", "store/..."), false, "no other package depends on the engine in use"},
	{[]string{"database/sql"}, pathsBelow("internal", "store/... logstore/..."), false, "only adapters use SQL"},
	{[]string{"github.com/caarlos0/env", "github.com/goccy/go-yaml"}, pathsBelow("internal", "config apidoc"), false, "settings are read in one place; the API description is generated from YAML"},
	{[]string{"github.com/tiktoken-go/"}, pathsBelow("internal", "tokens"), false, "vocabularies have megabytes, so one package loads them"},
	{[]string{"github.com/wneessen/go-mail"}, pathsBelow("internal", "mail/smtp"), false, "one package sends emails"},
	{[]string{"github.com/alecthomas/kong"}, []string{"cmd/..."}, false, "only commands have flags"},
	{[]string{"testing", "github.com/stretchr/testify", "pgregory.net/rapid"},
		[]string{"internal/*/*test", "internal/test/...", "test/..."}, false, "the program does not contain test code"},
}

func TestImports_ThirdPartyIsConfined(t *testing.T) {
	t.Parallel()
	for _, f := range readTree(t) {
		for _, rule := range confined {
			files := f.code
			if rule.tests {
				files = slices.Concat(f.code, f.tests)
			}
			for _, name := range imports(files) {
				if begins(name, rule.what) && !covers(rule.by, f.path) {
					t.Errorf("%s imports %s, which only %s may: %s", f.path, name, strings.Join(rule.by, " and "), rule.why)
				}
			}
		}
	}
}

func begins(name string, starts []string) bool {
	return slices.ContainsFunc(starts, func(s string) bool {
		rest, ok := strings.CutPrefix(name, s)
		return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(s, "/"))
	})
}

// TestRequestPath_DoesNotUseNetHTTP keeps the request path independent of the HTTP server and
// client. Constants of statuses and methods are allowed.
func TestRequestPath_DoesNotUseNetHTTP(t *testing.T) {
	t.Parallel()
	free := all(kernel, pathsBelow("internal", "dataplane gateway/... routing dialect/... record provider keys"))
	adapters := pathsBelow("internal", "gateway/nethttp/...")
	for _, f := range readTree(t) {
		if !covers(free, f.path) || covers(adapters, f.path) || !slices.Contains(imports(f.code), "net/http") {
			continue
		}
		eachNode(f.code, func(n ast.Node) {
			if sel, ok := n.(*ast.SelectorExpr); ok && selected(n, "http", sel.Sel.Name) && !constant(sel.Sel.Name) {
				t.Errorf("%s uses http.%s: the request path works on types of its own (internal/wire); fronts and transports translate", f.at(n), sel.Sel.Name)
			}
		})
	}
}

func constant(name string) bool {
	return strings.HasPrefix(name, "Status") || strings.HasPrefix(name, "Method")
}

func TestEnvironment_IsReadByCommandsOnly(t *testing.T) {
	t.Parallel()
	may := []string{"cmd/...", "internal/config", "test/...", "internal/test/...", "internal/*/*test"}
	for _, f := range readTree(t) {
		if covers(may, f.path) {
			continue
		}
		eachNode(f.code, func(n ast.Node) {
			if selected(n, "os", "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv") {
				t.Errorf("%s: only commands read the environment; take a setting", f.at(n))
			}
		})
	}
}

func TestPackages_HaveNoInit(t *testing.T) {
	t.Parallel()
	for _, f := range readTree(t) {
		eachFunc(f.code, func(d *ast.FuncDecl) {
			if d.Name.Name == "init" && d.Recv == nil {
				t.Errorf("%s: no init functions; lists are explicit and built by app", f.at(d))
			}
		})
	}
}

func TestStructs_HaveNoContext(t *testing.T) {
	t.Parallel()
	for _, f := range readTree(t) {
		eachNode(f.code, func(n ast.Node) {
			body, ok := n.(*ast.StructType)
			if !ok {
				return
			}
			for _, field := range body.Fields.List {
				if selected(field.Type, "context", "Context") {
					t.Errorf("%s: pass the context as the first parameter; do not store it in a field", f.at(field))
				}
			}
		})
	}
}

func TestPackageNames_AreSpecific(t *testing.T) {
	t.Parallel()
	vague := strings.Fields("util utils common helper helpers types models base manager misc shared lib")
	for _, f := range readTree(t) {
		for _, file := range slices.Concat(f.code, f.tests) {
			if slices.Contains(vague, strings.TrimSuffix(file.Name.Name, "_test")) {
				t.Errorf("%s has the vague package name %s; name it after its purpose", f.path, file.Name.Name)
			}
		}
	}
}
