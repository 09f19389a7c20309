package sluice

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// rule is a row of the import table: which packages of this module the packages of one kind may
// import. "@" in may stands for the part of its wing that contains the importing package: its first
// three elements, such as "internal/storage/journal".
type rule struct {
	who []string
	may []string
	why string
}

// The wings of internal, from the bottom to the top. A package imports packages of lower wings and
// of its own wing only, and only those that its row names.
var (
	kernel  = []string{"internal/kernel/..."}
	domain  = []string{"internal/domain/..."}
	control = []string{"internal/control/..."}

	// limitTypes are the values and rules of the limits wing. The rest of it connects them to stores.
	limitTypes = pathsBelow("internal/limits", "quota/... ledger/... catalog/... tokens/...")

	// providers are the table of providers and what reaches them.
	providers = pathsBelow("internal/provider", "sign/... transport/... netguard/...")

	// dialects are the wire formats and the parts that they share.
	dialects = []string{"internal/dialect/..."}

	// dialectParts are the parts that dialects share.
	dialectParts = pathsBelow("internal/dialect", "claude conversation embeddings fields images jsonscan jsonschema jsonwriter media modellists pagination reranking signatures sniff surrogates toolcalls uploads upstreamerror usage")

	// controlEngine is what each area of the administration is made of. It knows no type of record.
	controlEngine = pathsBelow("internal/control", "resource/... jobs")

	// controlShared are the parts that several areas of the administration use.
	controlShared = pathsBelow("internal/control", "budgets defaults destination directory expiry grants outbox secretmapping sidedata sweep")

	// metrics are declared next to the code that they measure.
	metrics = pathsBelow("internal/ops", "telemetry telemetry/accesslog")
)

// importRules is read from the top; the first row that covers a package applies.
var importRules = []rule{
	{[]string{".", "api"}, nil,
		"the root contains rules, not code; api contains the published description"},

	// kernel: types and helpers for every wing.
	{pathsBelow("internal/kernel", "fault ident background circuit atomicfile embedding"), nil,
		"every other package uses them, so they import none"},
	{pathsBelow("internal/kernel", "access lease llm sealed varint wire boundedcache"), pathsBelow("internal/kernel", "fault ident"),
		"packages of the kernel serve every other package; they import fault and ident only"},
	{pathsBelow("internal/kernel", "jsonedit"), pathsBelow("internal/kernel", "fault ident wire"),
		"JSON edits work on bytes and bodies; they import fault, ident and wire"},
	{pathsBelow("internal/kernel", "multipartedit"), pathsBelow("internal/kernel", "fault jsonedit wire"),
		"form edits share the routing keys of JSON edits; they use fault, jsonedit and wire"},

	// domain: stored types and their rules.
	{domain, all(kernel, "@/..."),
		"a domain package imports the kernel, never another domain package; app connects two of them"},

	// http1: HTTP/1.1 for both sides.
	{pathsBelow("internal/http1", "syntax socket porttest"), pathsBelow("internal/kernel", "fault ident wire"),
		"the parts of HTTP/1.1 read and write bytes; they import fault, ident and wire"},
	{pathsBelow("internal/http1", "server"), all(kernel, "internal/http1/..."),
		"the HTTP/1.1 server reads and writes requests; it does not depend on what they mean"},

	// dialect: wire formats.
	{pathsBelow("internal/dialect", "registry"), all(kernel, "internal/dialect/..."),
		"the list of dialects names each of them"},
	{[]string{"internal/dialect"}, all(kernel, dialectParts),
		"the root of dialect declares the interfaces; it may use the parts that dialects share"},
	{dialectParts, all(kernel, "internal/dialect", dialectParts),
		"a shared part uses other shared parts and the interfaces, never a dialect"},
	{[]string{"internal/dialect/*"}, all(kernel, "internal/dialect", dialectParts),
		"a dialect uses the interfaces and the shared parts, never another dialect: what two share becomes a shared part"},

	// provider: upstream services as data, and how to reach them.
	{pathsBelow("internal/provider", "secretmanager"), all(kernel, "internal/domain/credential", "internal/provider/..."),
		"secret managers are called with signed requests; they know neither dialects nor the life of a request"},
	{pathsBelow("internal/provider", "transport"), all(kernel, "internal/http1/...", "internal/provider/netguard"),
		"transport connects to addresses; it does not know providers"},
	{pathsBelow("internal", "provider/..."), all(kernel, "internal/http1/syntax", "internal/provider/..."),
		"providers are data; they know neither dialects nor the life of a request"},

	// limits: what callers may use and what it costs.
	{limitTypes, all(kernel, "@/..."),
		"a package of limits imports the kernel, not another one; app and metering connect them"},
	{pathsBelow("internal/limits", "redis ratefile"), all(kernel, metrics, "internal/limits/quota"),
		"they store the counters of the limiter"},
	{pathsBelow("internal/limits", "redistest"), all(kernel, "internal/http1/porttest"),
		"it starts Redis servers for tests"},
	{pathsBelow("internal/limits", "spend rerate"), all(kernel, domain, limitTypes, metrics),
		"they read records and write costs through interfaces; they import neither the gateway nor a store"},

	// gateway: the life of a model request.
	{pathsBelow("internal/gateway", "call"), all(kernel, domain),
		"the values of a request do not depend on any step"},
	{pathsBelow("internal/gateway", "nethttp"), all(kernel, metrics, "internal/gateway", "internal/gateway/call", "internal/gateway/realtime", "internal/http1/..."),
		"nethttp converts HTTP requests to calls of the gateway"},
	{pathsBelow("internal/gateway", "nethttp/router"), all(kernel, "internal/gateway", "internal/gateway/nethttp", "internal/http1/server"),
		"the router contains the paths of model routes; it receives the administration as an interface"},
	{pathsBelow("internal/gateway/guardrails", "passage placeholder textfold check/jwks classify/*"), all(kernel, "@/..."),
		"texts, placeholders, keys of tokens and language models are values of guardrails; they depend on no check"},
	{pathsBelow("internal/gateway/guardrails", "guardedstream"), all(kernel, dialectParts, "internal/gateway/guardrails/textfold"),
		"a guarded stream reads and writes events and counts characters as checks do; it calls its judge through an interface"},
	{pathsBelow("internal/gateway/guardrails", "outbound"), all(kernel, "internal/provider", providers, "internal/gateway/guardrails/check"),
		"it sends the requests of checks with the client of the providers"},
	{pathsBelow("internal/gateway/guardrails", "check pii secrets classify partner"), all(kernel, domain, "internal/gateway/guardrails/check/...", "internal/gateway/guardrails/textfold", "internal/gateway/guardrails/passage", "@/..."),
		"a check judges what it receives; it reaches services through the interfaces of check.Deps"},
	{pathsBelow("internal/gateway", "screening"), all(kernel, domain, "internal/gateway/guardrails/passage", "internal/gateway/guardrails/placeholder", "internal/gateway/realtime"),
		"it judges the events of a conversation; the gateway gives it the judge"},
	{pathsBelow("internal/gateway/guardrails", "placeholder/vaultstore"), all(kernel, "internal/gateway/cache/redisconn"),
		"it keeps sealed values in Redis with the connection that stores of responses use"},
	{pathsBelow("internal/gateway", "cache/redisstore cache/redisconn"), all(kernel, metrics, "internal/gateway/cache/..."),
		"a store of cached responses keeps bytes; it does not depend on what they mean"},
	{pathsBelow("internal/gateway", "cache/... promptcache/..."), all(kernel, dialects, "internal/limits/catalog", "@/...", "internal/gateway/cache/..."),
		"caches compute keys and store responses; the gateway decides when"},
	{pathsBelow("internal/gateway", "* metering/..."), all(kernel, domain, dialects, "internal/provider", providers, limitTypes, metrics, "internal/gateway/call", "@/..."),
		"a step of the gateway uses the values of a request and imports no other step; the gateway connects them"},
	{pathsBelow("internal", "gateway"), all(kernel, domain, dialects, "internal/provider", providers, limitTypes, metrics, "internal/http1/syntax", "internal/gateway/..."),
		"the gateway connects the steps of a request; it depends neither on stores nor on the HTTP server"},

	// control: the administration.
	{pathsBelow("internal/control", "apidoc"), nil,
		"the API description is built from types, texts and recorded calls that it receives"},
	{pathsBelow("internal/control", "resource"), kernel,
		"the engine does not depend on any type of record"},
	{pathsBelow("internal/control", "jobs"), all(kernel, metrics),
		"the job runner uses interfaces that it declares; it does not know what a job does"},
	{pathsBelow("internal/control", "resource/*"), all(kernel, "internal/control/resource", "internal/control/resource/jsonfield"),
		"types of bodies and lists that resources share use the engine"},
	{controlShared, all(kernel, domain, limitTypes, "internal/provider", controlEngine, controlShared),
		"a shared part uses the engine and the domain, never an area"},
	{[]string{"internal/control/*"}, all(kernel, domain, limitTypes, "internal/limits/rerate", "internal/provider", "internal/dialect/usage", controlEngine, controlShared),
		"an area uses the engine, the domain and shared parts, never another area; it takes a function or a small interface instead"},
	{pathsBelow("internal", "control"), all(kernel, domain, "internal/limits/rerate", "internal/provider", control, "api"),
		"control joins the areas of the administration; it imports no store and not the gateway"},

	// storage: one family of stores per folder.
	{pathsBelow("internal", "storage/..."), all(kernel, domain, limitTypes, metrics, "internal/control/resource", "internal/http1/porttest", "@/..."),
		"a store uses the types that it contains and imports no store of another family; app connects them"},

	// ops: settings, telemetry and the work of operators.
	{pathsBelow("internal/ops", "config telemetry demo process health telemetry/accesslog telemetry/genai"), kernel,
		"packages of every wing may use them, so they import the kernel only"},
	{pathsBelow("internal/ops", "telemetry/*"), all(kernel, domain, "internal/limits/catalog", "@/..."),
		"telemetry converts records; app connects it to their source"},
	{pathsBelow("internal/ops", "smtp"), all(kernel, "internal/domain/mail"),
		"smtp sends mails; app connects it to the outbox"},
	{pathsBelow("internal", "ops/..."), all(kernel, domain, limitTypes, "internal/limits/redis", "internal/provider", "internal/provider/transport", "internal/control/resource", "internal/storage/sqlstore", "internal/ops/..."),
		"operations read settings and the database; they never import the gateway or an area of the administration"},

	{pathsBelow("internal", "app/..."), []string{"internal/..."},
		"app connects all packages"},
	{[]string{"cmd/..."}, all(kernel, "internal/app/...", "internal/ops/config", metrics),
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
		{"internal/kernel/fault", "internal/kernel/ident", false},
		{"internal/kernel/llm", "internal/kernel/fault", true},
		{"internal/kernel/llm", "internal/kernel/wire", false},
		{"internal/kernel/wire", "internal/domain/record", false},
		{"internal/domain/routing", "internal/kernel/llm", true},
		{"internal/domain/routing", "internal/domain/keys", false},
		{"internal/domain/record/recordtest", "internal/domain/record", true},
		{"internal/http1/server", "internal/http1/syntax", true},
		{"internal/http1/server", "internal/gateway", false},
		{"internal/http1/syntax", "internal/http1/server", false},
		{"internal/provider/transport", "internal/provider/netguard", true},
		{"internal/provider/transport", "internal/dialect", false},
		{"internal/provider/transport", "internal/domain/credential", false},
		{"internal/provider/secretmanager", "internal/domain/credential", true},
		{"internal/provider/secretmanager", "internal/domain/routing", false},
		{"internal/dialect/openai", "internal/dialect", true},
		{"internal/dialect/openai", "internal/dialect/jsonwriter", true},
		{"internal/dialect/openai", "internal/dialect/anthropic", false},
		{"internal/dialect/openai", "internal/provider", false},
		{"internal/dialect/jsonwriter", "internal/dialect/openai", false},
		{"internal/dialect/registry", "internal/dialect/anthropic", true},
		{"internal/limits/quota", "internal/limits/ledger", false},
		{"internal/limits/quota/quotatest", "internal/limits/quota", true},
		{"internal/limits/spend", "internal/limits/ledger", true},
		{"internal/limits/spend", "internal/storage/journal", false},
		{"internal/gateway", "internal/domain/routing", true},
		{"internal/gateway", "internal/storage/sqlstore", false},
		{"internal/gateway", "internal/limits/redis", false},
		{"internal/gateway", "internal/provider/secretmanager", false},
		{"internal/gateway", "internal/gateway/responsestore", true},
		{"internal/gateway", "internal/dialect/registry", true},
		{"internal/gateway/metering", "internal/gateway/metering/bound", true},
		{"internal/gateway/responsestore", "internal/gateway", false},
		{"internal/gateway/responsestore", "internal/gateway/call", true},
		{"internal/gateway/responsestore", "internal/gateway/metering", false},
		{"internal/gateway/nethttp", "internal/gateway", true},
		{"internal/control/resource", "internal/domain/keys", false},
		{"internal/control/people", "internal/control/resource/listing", true},
		{"internal/control/people", "internal/control/apikeys", false},
		{"internal/control/people", "internal/storage/sqlstore", false},
		{"internal/control/grants", "internal/control/people", false},
		{"internal/control", "internal/control/people", true},
		{"internal/control", "internal/storage/sqlstore", false},
		{"internal/storage/sqlstore/storetest", "internal/storage/sqlstore", true},
		{"internal/storage/requestlog/duckdb", "internal/storage/requestlog", true},
		{"internal/storage/requestlog", "internal/storage/journal", false},
		{"internal/ops/hint", "internal/storage/sqlstore", true},
		{"internal/ops/hint", "internal/gateway", false},
		{"internal/ops/hint", "internal/control", false},
		{"internal/ops/config", "internal/domain/keys", false},
		{"internal/app", "internal/storage/sqlstore", true},
		{"cmd/sluice", "internal/storage/sqlstore", false},
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

// expandOwn replaces "@" in patterns with the part of its wing that contains the importing package:
// its first three elements, such as "internal/storage/journal".
func expandOwn(patterns []string, name string) []string {
	parts := strings.SplitN(name, "/", 4)
	part := strings.Join(parts[:min(3, len(parts))], "/")
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = strings.Replace(p, "@", part, 1)
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
	{[]string{"github.com/duckdb/"}, pathsBelow("internal/storage", "requestlog/duckdb"), true,
		"its static library would be linked into every test binary"},
	{[]string{"github.com/uptrace/bun", "github.com/jackc/pgx", "github.com/go-sql-driver/mysql", "modernc.org/sqlite", "github.com/pressly/goose"},
		pathsBelow("internal/storage", "sqlstore/..."), false, "no other package depends on the engine in use"},
	{[]string{"database/sql"}, pathsBelow("internal/storage", "sqlstore/... requestlog/..."), false, "only stores use SQL"},
	{[]string{"github.com/caarlos0/env", "github.com/goccy/go-yaml"}, pathsBelow("internal", "ops/config control/apidoc"), false, "settings are read in one place; the API description is generated from YAML"},
	{[]string{"github.com/tiktoken-go/"}, pathsBelow("internal/limits", "tokens"), false, "vocabularies have megabytes, so one package loads them"},
	{[]string{"github.com/wneessen/go-mail"}, pathsBelow("internal/ops", "smtp"), false, "one package sends emails"},
	{[]string{"github.com/alecthomas/kong"}, []string{"cmd/..."}, false, "only commands have flags"},
	{[]string{"testing", "github.com/stretchr/testify", "pgregory.net/rapid"},
		[]string{"internal/*/*test", "internal/*/*/*test", "internal/*/*/*/*test", "internal/*/*/*/*/*test", "internal/test/...", "test/..."}, false, "the program does not contain test code"},
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
	free := all(kernel, pathsBelow("internal", "gateway/... dialect/... domain/routing domain/record domain/keys provider"))
	adapters := pathsBelow("internal", "gateway/nethttp/...")
	for _, f := range readTree(t) {
		if !covers(free, f.path) || covers(adapters, f.path) || !slices.Contains(imports(f.code), "net/http") {
			continue
		}
		eachNode(f.code, func(n ast.Node) {
			if sel, ok := n.(*ast.SelectorExpr); ok && selected(n, "http", sel.Sel.Name) && !constant(sel.Sel.Name) {
				t.Errorf("%s uses http.%s: the request path works on types of its own (internal/kernel/wire); nethttp and transports translate", f.at(n), sel.Sel.Name)
			}
		})
	}
}

func constant(name string) bool {
	return strings.HasPrefix(name, "Status") || strings.HasPrefix(name, "Method")
}

func TestEnvironment_IsReadByCommandsOnly(t *testing.T) {
	t.Parallel()
	may := []string{"cmd/...", "internal/ops/config", "test/...", "internal/test/...", "internal/*/*test", "internal/*/*/*test"}
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
