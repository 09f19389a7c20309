package routing_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/routing"
	"sluice/internal/kernel/fault"
)

// show spells a target without what is empty.
func show(t *routing.Target) string {
	var b strings.Builder
	put := func(name string, v any, isSet bool) {
		if isSet {
			fmt.Fprintf(&b, " %s=%v", name, v)
		}
	}
	b.WriteString(t.Path)
	put("id", t.ID, t.ID != "")
	put("provider", t.Provider, t.Provider != "")
	put("vk", t.VirtualKey, t.VirtualKey != "")
	put("key", t.APIKey.Reveal(), !t.APIKey.Empty())
	put("prompt", t.PromptID, t.PromptID != "")
	put("fields", map[string]string(t.Fields), t.Fields != nil)
	put("deployments", t.Deployments, t.Deployments != nil)
	put("host", t.CustomHost, t.CustomHost != "")
	put("forward", t.ForwardHeaders, t.ForwardHeaders != nil)
	put("passthrough", t.Passthrough, t.Passthrough)
	put("default", params(t.Default), len(t.Default) > 0)
	put("override", params(t.Override), len(t.Override) > 0)
	put("drop", t.Drop, len(t.Drop) > 0)
	if t.Retry != nil {
		put("retry", *t.Retry, true)
	}
	if t.Cache != nil {
		put("cache", cacheText(t.Cache), true)
	}
	put("timeout", t.Timeout, t.Timeout != 0)
	if t.Strict != nil {
		put("strict", *t.Strict, true)
	}
	put("before", hookIDs(t.Before), t.Before != nil)
	put("after", hookIDs(t.After), t.After != nil)
	if t.Breaker != nil {
		put("breaker", *t.Breaker, true)
	}
	put("integrated", true, t.FetchIntegratedModels)
	put("continue", true, t.ContinueStream)
	put("prompts", t.ProviderCache, t.ProviderCache != "")
	return b.String()
}

// cacheText shows a cache setting; "-" for a threshold that is not set.
func cacheText(c *routing.Cache) string {
	threshold := "-"
	if c.Threshold != nil {
		threshold = fmt.Sprint(*c.Threshold)
	}
	return fmt.Sprintf("{%s %s %v %s %t}", c.Mode, c.MaxAge, c.Vary, threshold, c.Unguarded)
}

func params(ps []routing.Param) string {
	var parts []string
	for _, p := range ps {
		parts = append(parts, p.Key+":"+string(p.Raw))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func hookIDs(hs []routing.Hook) []string {
	ids := []string{}
	for _, h := range hs {
		ids = append(ids, h.ID)
	}
	return ids
}

func TestParseLeaf(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, doc, want string }{
		{"inline key", `{"provider":"openai","api_key":"sk-1"}`, `config provider=openai key=sk-1`},
		{"camel case", `{"provider":"openai","apiKey":"sk-1","requestTimeout":2500}`, `config provider=openai key=sk-1 timeout=2.5s`},
		{"saved provider", `{"provider":"@openai-prod"}`, `config provider=@openai-prod`},
		{"virtual key", `{"virtual_key":"openai-prod"}`, `config vk=openai-prod`},
		{"prompt", `{"prompt_id":"pp-greet-1a2b3c"}`, `config prompt=pp-greet-1a2b3c`},
		{"model as provider", `{"override_params":{"model":"@openai-prod/gpt-4o"}}`, `config override={model:"@openai-prod/gpt-4o"}`},
		{"verbatim in snake case", `{"override_params":{"maxTokens": 1.0, "top_p":1e0, "x":{"aB":[ ]}}}`, `config override={maxTokens:1.0,top_p:1e0,x:{"aB":[ ]}}`},
		{"verbatim in camel case", `{"overrideParams":{"max_tokens":7},"defaultParams":{"top_k":null}}`, `config default={top_k:null} override={max_tokens:7}`},
		{"drop", `{"drop_params":["user","messages[*].cache_control"]}`, `config drop=[user messages[*].cache_control]`},
		{"retry defaults", `{"retry":{"attempts":2}}`, `config retry={2 [429 500 502 503 504 529] false}`},
		{"retry clamped", `{"retry":{"attempts":50,"on_status_codes":[429,446],"use_retry_after_headers":true}}`, `config retry={5 [429 446] true}`},
		{"retry in camel case", `{"retry":{"attempts":1,"onStatusCodes":[],"useRetryAfterHeader":true}}`, `config retry={1 [] true}`},
		{"cache by mode", `{"cache":"simple"}`, `config cache={simple 0s [] - false}`},
		{"cache off", `{"cache":"DISABLED"}`, `config`},
		{"provider cache", `{"provider_cache":"auto"}`, `config prompts=auto`},
		{"provider cache in camelCase", `{"providerCache":"auto"}`, `config prompts=auto`},
		{"provider cache off", `{"provider_cache":"off"}`, `config`},
		{"cache age", `{"cache":{"mode":"semantic","max_age":3600}}`, `config cache={semantic 1h0m0s [] - false}`},
		{"shortest cache age", `{"cache":{"mode":"simple","max_age":60}}`, `config cache={simple 1m0s [] - false}`},
		{"longest cache age", `{"cache":{"mode":"simple","maxAge":7776000}}`, `config cache={simple 2160h0m0s [] - false}`},
		{"cache threshold 0", `{"cache":{"mode":"semantic","threshold":0}}`, `config cache={semantic 0s [] 0 false}`},
		{"cache threshold 1 without guard", `{"cache":{"mode":"semantic","threshold":1,"guard":false}}`, `config cache={semantic 0s [] 1 true}`},
		{"cache threshold null", `{"cache":{"mode":"semantic","threshold":null,"guard":null,"max_age":null}}`, `config cache={semantic 0s [] - false}`},
		{"null is absent", `{"provider":"@a","api_key":null,"retry":null}`, `config provider=@a`},
		{"ollama", `{"provider":"ollama"}`, `config provider=ollama`},
		{"custom host", `{"provider":"openai","custom_host":"http://10.0.0.5:8000/v1"}`, `config provider=openai host=http://10.0.0.5:8000/v1`},
		{"forwarded headers", `{"forward_headers":[" X-Team","x-trace"]}`, `config forward=[x-team x-trace]`},
		{"strict", `{"provider":"@a","strict_open_ai_compliance":false}`, `config provider=@a strict=false`},
		{"strict, other spelling", `{"provider":"@a","strictOpenaiCompliance":true}`, `config provider=@a strict=true`},
		{"passthrough", `{"passthrough":true}`, `config passthrough=true`},
		{"ours", `{"provider":"@a","continue_stream":true,"fetch_integrated_models":true}`, `config provider=@a integrated=true continue=true`},
		{"azure short forms", `{"provider":"azure-openai","resource_name":"eu1","deployment_id":"gpt","api_version":"v1","azure_entra_scope":"api://x/.default"}`,
			`config provider=azure-openai fields=map[api_version:v1 azure_entra_scope:api://x/.default deployment_id:gpt resource_name:eu1]`},
		{"azure deployments", `{"deployments":[{"deploymentId":"d1","alias":"gpt-4o","api_version":"2024-10-21","is_default":true}]}`,
			`config fields=map[azure_deployment_config:[{"azure_deployment_name":"d1","alias":"gpt-4o","azure_api_version":"2024-10-21","is_default":true}]] deployments=[{d1 gpt-4o 2024-10-21 true}]`},
		{"aws in camel case", `{"awsAccessKeyId":"AKIA","awsSecretAccessKey":"s","awsS3Bucket":"b","awsServerSideEncryptionKmsKeyId":"k"}`,
			`config fields=map[aws_access_key_id:AKIA aws_s3_bucket:b aws_secret_access_key:s aws_server_side_encryption_kms_key_id:k]`},
		{"service account verbatim", `{"provider":"vertex-ai","vertexRegion":"global","vertexServiceAccountJson":{ "privateKey": "x", "client_email":"y" }}`,
			`config provider=vertex-ai fields=map[vertex_region:global vertex_service_account_json:{"privateKey":"x","client_email":"y"}]`},
		{"scalars as text", `{"provider":"fireworks-ai","fireworks_file_length":1024,"mistral_fim_completion":true,"anthropic_beta":["a","b"]}`,
			`config provider=fireworks-ai fields=map[anthropic_beta:a,b fireworks_file_length:1024 mistral_fim_completion:true]`},
		{"breaker", `{"provider":"@a","id":"g","cbConfig":{"failureThreshold":3,"cooldown_interval":30000,"failure_status_codes":[500],"failure_threshold_percentage":20,"minimum_requests":10}}`,
			`config id=g provider=@a breaker={3 30s [500] 20 10}`},
		{"statuses without a strategy have no effect", `{"provider":"@a","on_status_codes":[429]}`, `config provider=@a`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := parse(t, c.doc)
			if got := show(cfg.Root.Target); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if len(cfg.Leaves()) != 1 || cfg.Leaves()[0] != cfg.Root.Target {
				t.Errorf("leaves: %v", cfg.Leaves())
			}
		})
	}
}

func TestParseInherits(t *testing.T) {
	t.Parallel()
	cfg := parse(t, `{
		"id": "main", "request_timeout": 9000, "retry": {"attempts": 3}, "cache": {"mode": "simple"},
		"override_params": {"model": "gpt-4o", "top_p": 1}, "default_params": {"user": "u"}, "drop_params": ["seed"],
		"custom_host": "https://all.example/v1", "forward_headers": ["x-all"], "strict_open_ai_compliance": false,
		"before_request_hooks": [{"id": "all"}], "continue_stream": true, "provider_cache": "auto", "api_key": "never inherited", "weight": 3,
		"cb_config": {"failure_threshold": 1, "cooldown_interval": 30000},
		"strategy": {"mode": "fallback", "on_status_codes": [429]},
		"targets": [
			{"name": "plain", "provider": "@a"},
			{"provider": "@b", "id": "own", "request_timeout": 0, "retry": {"attempts": 0}, "cache": "disabled",
			 "override_params": {"n": 2, "model": "b"}, "drop_params": ["seed", "user"], "custom_host": "https://b.example",
			 "forward_headers": [], "strict_open_ai_compliance": true, "input_guardrails": [], "continue_stream": false, "provider_cache": "off"},
			{"strategy": {"mode": "loadbalance", "cb_config": {"failure_threshold": 7, "cooldown_interval": 60000}}, "override_params": {"top_p": 0},
			 "targets": [{"provider": "@c", "weight": 0.5}, {"provider": "@d"}]},
			{"strategy": {"mode": "conditional", "conditions": [{"query": {"params.model": "x"}, "then": "e"}]},
			 "targets": [{"name": "e", "provider": "@e"}]}
		]}`)
	const common = ` host=https://all.example/v1 forward=[x-all] default={user:"u"}`
	const more = ` drop=[seed] retry={3 [429 500 502 503 504 529] false} cache={simple 0s [] - false} timeout=9s strict=false before=[all]`
	want := []string{
		`config.targets[0] id=main provider=@a` + common + ` override={model:"gpt-4o",top_p:1}` + more + ` breaker={1 30s [] 0 0} continue=true prompts=auto`,
		`config.targets[1] id=own provider=@b host=https://b.example forward=[] default={user:"u"} override={model:"b",top_p:1,n:2} drop=[seed user] retry={0 [429 500 502 503 504 529] false} strict=true before=[] breaker={1 30s [] 0 0}`,
		`config.targets[2].targets[0] id=main provider=@c` + common + ` override={model:"gpt-4o",top_p:0}` + more + ` breaker={7 1m0s [] 0 0} continue=true prompts=auto`,
		`config.targets[2].targets[1] id=main provider=@d` + common + ` override={model:"gpt-4o",top_p:0}` + more + ` breaker={7 1m0s [] 0 0} continue=true prompts=auto`,
		`config.targets[3].targets[0] id=main provider=@e` + common + ` override={model:"gpt-4o",top_p:1}` + more + ` continue=true prompts=auto`,
	}
	if len(cfg.Leaves()) != len(want) {
		t.Fatalf("%d leaves", len(cfg.Leaves()))
	}
	for i, l := range cfg.Leaves() {
		if got := show(l); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
	root := cfg.Root
	if root.Path != "config" || root.Strategy.Mode != routing.ModeFallback || root.Targets[0].Name != "plain" || root.Weight != 3 {
		t.Errorf("root %+v", root)
	}
	if w := root.Targets[2].Targets; w[0].Weight != 0.5 || w[1].Weight != 1 || root.Targets[2].Strategy.Policy != routing.Weighted {
		t.Errorf("weights %v %v", w[0].Weight, w[1].Weight)
	}
}

// branch puts a strategy and targets into a config.
func branch(strategy, targets string) string {
	return `{"strategy":` + strategy + `,"targets":` + targets + `}`
}

const two = `[{"name":"a","provider":"@a"},{"name":"b","provider":"@b"}]`

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	query := func(q string) string {
		return branch(`{"mode":"conditional","conditions":[{"query":`+q+`,"then":"a"}]}`, two)
	}
	const q0 = "strategy.conditions[0].query"
	cases := []struct{ name, doc, path, message string }{
		{"empty", ``, "config", "valid JSON"},
		{"no JSON", `{"provider":`, "config", "valid JSON: stopped at byte 12"},
		{"two documents", `{} {}`, "config", "valid JSON"},
		{"open string", `{"a`, "config", "valid JSON"},
		{"escape at the end", `{"a\`, "config", "valid JSON"},
		{"no UTF-8", "{\"name\":\"\xff\"}", "config", "UTF-8"},
		{"list", `[]`, "config", "must be an object"},
		{"text", `"pc-main"`, "config", "must be an object"},
		{"too deep", strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "config", "deeper than 32"},
		{"too large", `{"name":"` + strings.Repeat("x", 256<<10) + `"}`, "config", "larger than 262144"},
		{"nothing", `{}`, "config", "must name a provider"},
		{"only a name", `{"name":"x","weight":1}`, "config", "must name a provider"},
		{"provider without key", `{"provider":"openai"}`, "config", "must name a provider"},
		{"vertex without project", `{"provider":"vertex-ai","api_key":"k"}`, "config", "vertex-ai needs"},
		{"unknown field", `{"provider":"@a","retries":3}`, "retries", "unknown field"},
		{"odd unknown field", `{"provider":"@a","a b\n":3}`, `"a b\n"`, "unknown field"},
		{"old shape", `{"options":[]}`, "options", "no longer supported; use strategy and targets"},
		{"mode at the root", `{"mode":"scientist","provider":"@a"}`, "mode", "unknown field"},
		{"duplicate key", `{"provider":"@a","provider":"@b"}`, "provider", "is given twice"},
		{"duplicate key, escaped", `{"provider":"@a","pr\u006fvider":"@b"}`, "provider", "is given twice"},
		{"duplicate key, deep", `{"override_params":{"a":[{"model":1,"model":2}]}}`, "override_params.a[0].model", "is given twice"},
		{"both spellings", `{"retry":{"attempts":1},"api_key":"a","apiKey":"b"}`, "apiKey", "duplicates the field api_key"},
		{"provider of wrong type", `{"provider":1}`, "provider", "non-empty string"},
		{"provider with a path", `{"provider":"@a/../b"}`, "provider", "name of a provider"},
		{"virtual key", `{"virtual_key":"a b"}`, "virtual_key", "must be a slug"},
		{"empty key", `{"provider":"openai","api_key":""}`, "api_key", "non-empty string"},
		{"weight", `{"provider":"@a","weight":-1}`, "weight", "from 0 to 1000000000"},
		{"weight of wrong type", `{"provider":"@a","weight":"1"}`, "weight", "must be a number"},
		{"weight out of all bounds", `{"provider":"@a","weight":1e999}`, "weight", "must be a number"},
		{"timeout", `{"request_timeout":1.5}`, "request_timeout", "an integer"},
		{"timeout over a day", `{"request_timeout":86400001}`, "request_timeout", "an integer"},
		{"retry of wrong type", `{"retry":3}`, "retry", "must be an object"},
		{"retry without attempts", `{"retry":{}}`, "retry.attempts", "is required"},
		{"retry attempts", `{"retry":{"attempts":"3"}}`, "retry.attempts", "an integer"},
		{"retry statuses", `{"retry":{"attempts":1,"on_status_codes":[429,"500"]}}`, "retry.on_status_codes[1]", "an integer"},
		{"retry statuses, no list", `{"retry":{"attempts":1,"on_status_codes":429}}`, "retry.on_status_codes", "must be a list"},
		{"retry flag", `{"retry":{"attempts":1,"use_retry_after_header":"yes"}}`, "retry.use_retry_after_header", "true or false"},
		{"provider cache", `{"provider_cache":"on"}`, "provider_cache", "must be one of auto, off"},
		{"provider cache of a target", `{"strategy":{"mode":"fallback"},"targets":[{"provider":"@a"},{"provider":"@b","provider_cache":true}]}`, "targets[1].provider_cache", "must be one of auto, off"},
		{"cache mode", `{"cache":{"mode":"fuzzy"}}`, "cache.mode", "simple or semantic"},
		{"cache without mode", `{"cache":{"max_age":60}}`, "cache.mode", "is required"},
		{"cache as text", `{"cache":"yes"}`, "cache", "simple or semantic"},
		{"cache age 0", `{"cache":{"mode":"simple","max_age":0}}`, "cache.max_age", "an integer from 60 to 7776000"},
		{"cache age too low", `{"cache":{"mode":"simple","max_age":59}}`, "cache.max_age", "an integer from 60 to 7776000"},
		{"cache age too high", `{"cache":{"mode":"simple","max_age":7776001}}`, "cache.max_age", "an integer from 60 to 7776000"},
		{"cache age in camelCase", `{"cache":{"mode":"simple","maxAge":1}}`, "cache.maxAge", "an integer from 60 to 7776000"},
		{"cache age with a fraction", `{"cache":{"mode":"simple","max_age":60.5}}`, "cache.max_age", "an integer from 60 to 7776000"},
		{"cache age as text", `{"cache":{"mode":"simple","max_age":"60"}}`, "cache.max_age", "an integer from 60 to 7776000"},
		{"cache age of a target", `{"strategy":{"mode":"fallback"},"targets":[{"provider":"@a"},{"provider":"@b","cache":{"mode":"semantic","max_age":7776001}}]}`, "targets[1].cache.max_age", "an integer from 60 to 7776000"},
		{"cache threshold too low", `{"cache":{"mode":"semantic","threshold":-0.1}}`, "cache.threshold", "a number from 0 to 1"},
		{"cache threshold too high", `{"cache":{"mode":"semantic","threshold":1.01}}`, "cache.threshold", "a number from 0 to 1"},
		{"cache threshold of all bounds", `{"cache":{"mode":"semantic","threshold":1e999}}`, "cache.threshold", "a number from 0 to 1"},
		{"cache threshold as text", `{"cache":{"mode":"semantic","threshold":"0.9"}}`, "cache.threshold", "a number from 0 to 1"},
		{"cache guard", `{"cache":{"mode":"semantic","guard":"no"}}`, "cache.guard", "true or false"},
		{"cache vary", `{"cache":{"mode":"simple","vary":["user",1]}}`, "cache.vary[1]", "non-empty string"},
		{"override as list", `{"override_params":[]}`, "override_params", "must be an object"},
		{"drop", `{"drop_params":["a",1]}`, "drop_params[1]", "non-empty string"},
		{"custom host scheme", `{"provider":"openai","custom_host":"file:///etc"}`, "custom_host", "must be a URL"},
		{"custom host user", `{"provider":"openai","custom_host":"https://u:p@h"}`, "custom_host", "must be a URL"},
		{"custom host without host", `{"provider":"openai","custom_host":"https://:80"}`, "custom_host", "must be a URL"},
		{"forwarding itself", `{"forward_headers":["X-Gateway-Forward-Headers"]}`, "forward_headers[0]", "must not be forwarded"},
		{"forwarding cloud metadata", `{"forward_headers":["a","Metadata-Flavor"]}`, "forward_headers[1]", "must not be forwarded"},
		{"forwarding no name", `{"forward_headers":["a b"]}`, "forward_headers[0]", "not a valid header name"},
		{"breaker without threshold", `{"provider":"@a","cb_config":{"cooldown_interval":30000}}`, "cb_config.failure_threshold", "is required"},
		{"breaker cooldown", `{"provider":"@a","cb_config":{"failure_threshold":1,"cooldown_interval":29999}}`, "cb_config.cooldown_interval", "from 30000"},
		{"breaker percentage", `{"provider":"@a","cb_config":{"failure_threshold":1,"cooldown_interval":30000,"failure_threshold_percentage":101}}`, "cb_config.failure_threshold_percentage", "from 0 to 100"},
		{"deployment", `{"deployments":[{"alias":"x"}]}`, "deployments[0]", "are required"},
		{"no deployments", `{"deployments":[]}`, "deployments", "at least one"},
		{"credential as object", `{"provider":"openai","openai_project":{}}`, "openai_project", "non-empty string"},
		{"strategy without targets", `{"strategy":{"mode":"single"}}`, "targets", "is required with strategy"},
		{"targets without strategy", `{"targets":[{"provider":"@a"}]}`, "strategy", "is required with targets"},
		{"no targets", branch(`{"mode":"fallback"}`, `[]`), "targets", "at least one target"},
		{"targets as object", branch(`{"mode":"fallback"}`, `{}`), "targets", "must be a list"},
		{"empty target", branch(`{"mode":"fallback"}`, `[{"provider":"@a"},{}]`), "targets[1]", "must name a provider"},
		{"target of wrong type", branch(`{"mode":"fallback"}`, `["a"]`), "targets[0]", "must be an object"},
		{"nested path", branch(`{"mode":"fallback"}`, `[{"provider":"@a"},`+branch(`{"mode":"single"}`, `[{"retry":{"attempts":-1}}]`)+`]`), "targets[1].targets[0].retry.attempts", "an integer"},
		{"no mode", branch(`{}`, two), "strategy.mode", "must be single"},
		{"unknown mode", branch(`{"mode":"scientist"}`, two), "strategy.mode", "must be single"},
		{"unknown policy", branch(`{"mode":"loadbalance","policy":"best"}`, two), "strategy.policy", "must be weighted"},
		{"policy elsewhere", branch(`{"mode":"fallback","policy":"weighted"}`, two), "strategy.policy", "no effect with mode fallback"},
		{"all weights zero", branch(`{"mode":"loadbalance"}`, `[{"provider":"@a","weight":0},{"provider":"@b","weight":0}]`), "strategy", "at least one target with a weight above 0"},
		{"sticky without fields", branch(`{"mode":"loadbalance","sticky":{"enabled":true}}`, two), "strategy.sticky.hash_fields", "is required"},
		{"sticky field", branch(`{"mode":"loadbalance","sticky":{"enabled":true,"hash_fields":["user"]}}`, two), "strategy.sticky.hash_fields[0]", "metadata.<key>"},
		{"sticky time", branch(`{"mode":"loadbalance","sticky":{"ttl":0}}`, two), "strategy.sticky.ttl", "an integer"},
		{"no conditions", branch(`{"mode":"conditional"}`, two), "strategy.conditions", "at least one condition"},
		{"conditions elsewhere", branch(`{"mode":"fallback","conditions":[]}`, two), "strategy.conditions", "no effect"},
		{"condition without then", branch(`{"mode":"conditional","conditions":[{"query":{"params.a":1}}]}`, two), "strategy.conditions[0]", "are required"},
		{"condition to nowhere", branch(`{"mode":"conditional","conditions":[{"query":{"params.a":1},"then":"c"}]}`, two), "strategy.conditions[0].then", "must name an existing target"},
		{"default to nowhere", branch(`{"mode":"conditional","default":"c","conditions":[{"query":{"params.a":1},"then":"a"}]}`, two), "strategy.default", "must name an existing target"},
		{"two of a name", branch(`{"mode":"conditional","conditions":[{"query":{"params.a":1},"then":"a"}]}`, `[{"name":"a","provider":"@a"},{"name":"a","provider":"@b"}]`), "strategy", "two targets with the name"},
		{"query of wrong type", query(`[]`), q0, "must be an object"},
		{"empty query", query(`{}`), q0, "must not be empty"},
		{"fact", query(`{"model":"x"}`), q0 + ".model", "metadata.<key>"},
		{"fact of three parts", query(`{"params.a.b":"x"}`), q0 + ".params.a.b", "metadata.<key>"},
		{"url fact", query(`{"url.host":"x"}`), q0 + ".url.host", "metadata.<key>"},
		{"unknown operator", query(`{"params.a":{"$like":"x"}}`), q0 + ".params.a.$like", "unknown operator"},
		{"unknown operator on top", query(`{"$not":[]}`), q0 + ".$not", "unknown operator"},
		{"object as value", query(`{"params.a":{"b":1}}`), q0 + ".params.a.b", "unknown operator"},
		{"no operator", query(`{"params.a":{}}`), q0 + ".params.a", "at least one operator"},
		{"list as value", query(`{"params.a":[1]}`), q0 + ".params.a", "must be a string, a number"},
		{"number operator", query(`{"params.a":{"$gt":"big"}}`), q0 + ".params.a.$gt", "must be a number"},
		{"list operator", query(`{"params.a":{"$in":"x"}}`), q0 + ".params.a.$in", "must be a list"},
		{"empty and", query(`{"$and":[]}`), q0 + ".$and", "at least one query"},
		{"inside or", query(`{"$or":[{"params.a":1},{"params.b":{"$regex":"(?=x)"}}]}`), q0 + ".$or[1].params.b.$regex", "RE2"},
		{"pattern too long", query(`{"params.a":{"$regex":"` + strings.Repeat("a", 1001) + `"}}`), q0 + ".params.a.$regex", "longer than 1000"},
		{"patterns too large", query(`{"params.a":{"$regex":"` + strings.Repeat("a{500}", 30) + `"},"params.b":{"$regex":"b"}}`), q0 + ".params.a.$regex", "exceeds the size limit"},
		{"too many parameters", `{"override_params":{"p":0` + numbered(`,"p%d":1`, 256) + `}}`, "override_params", "more than 256 fields"},
		{"too many paths", `{"drop_params":["p"` + numbered(`,"p%d"`, 256) + `]}`, "drop_params", "more than 256 items"},
		{"too many statuses", `{"on_status_codes":[500` + strings.Repeat(",500", 500) + `]}`, "on_status_codes", "more than 500 items"},
		{"odd name in a path", `{"override_params":{"` + strings.Repeat("é", 40) + `":{"x":1,"x":2}}}`, `override_params."` + strings.Repeat("é", 32) + `…".x`, "is given twice"},
		{"forwarding of wrong type", `{"forward_headers":[1]}`, "forward_headers[0]", "non-empty string"},
		{"custom host of wrong type", `{"provider":"@a","custom_host":1}`, "custom_host", "non-empty string"},
		{"breaker without cooldown", `{"provider":"@a","cb_config":{"failure_threshold":1}}`, "cb_config.cooldown_interval", "is required"},
		{"fact of nothing", query(`{"headers.a":"x"}`), q0 + ".headers.a", "metadata.<key>"},
		{"hook without id", `{"before_request_hooks":[{"deny":true}]}`, "before_request_hooks[0].id", "is required"},
		{"hook type", `{"after_request_hooks":[{"id":"x","type":"guard"}]}`, "after_request_hooks[0].type", "guardrail or mutator"},
		{"hook field", `{"before_request_hooks":[{"id":"x","denies":true}]}`, "before_request_hooks[0].denies", "unknown field"},
		{"hook with an empty list of checks", `{"before_request_hooks":[{"id":"x","checks":[]}]}`, "before_request_hooks[0].checks", "must have a check"},
		{"check without id", `{"before_request_hooks":[{"id":"x","checks":[{}]}]}`, "before_request_hooks[0].checks[0].id", "is required"},
		{"check parameters", `{"before_request_hooks":[{"id":"x","checks":[{"id":"a.b","parameters":[]}]}]}`, "before_request_hooks[0].checks[0].parameters", "must be an object"},
		{"feedback value", `{"before_request_hooks":[{"id":"x","on_fail":{"feedback":{"value":11}}}]}`, "before_request_hooks[0].on_fail.feedback.value", "from -10 to 10"},
		{"guardrail of wrong type", `{"input_guardrails":[1]}`, "input_guardrails[0]", "slug of a saved guardrail"},
		{"guardrail without check", `{"input_guardrails":[{"deny":true}]}`, "input_guardrails[0]", "must have a check"},
		{"guardrail check", `{"output_guardrails":[{"wordCount":3}]}`, "output_guardrails[0].wordCount", "must be an object"},
		{"field of a guardrail", `{"output_guardrails":[{"wordCount":{"maxWords":1},"asnyc":true}]}`, "output_guardrails[0].asnyc", "unknown field"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := routing.Parse([]byte(c.doc), routing.Limits{})
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != fault.InvalidConfig {
				t.Fatalf("err %v", err)
			}
			if f.Param != c.path || !strings.Contains(f.Public, c.message) {
				t.Errorf("param %q, text %q", f.Param, f.Public)
			}
			if want := "path: " + c.path + ", message: "; !strings.HasPrefix(f.Details[0], want) {
				t.Errorf("details %q, want %q…", f.Details[0], want)
			}
		})
	}
}

// numbered repeats a format with the numbers below n.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestParseListsWhatIsWrong(t *testing.T) {
	t.Parallel()
	doc := `{"provider":1,"retry":{"attempts":"x"},"api_key":"sk-very-secret","sk-looks-like-a-key":"sk-very-secret","input_guardrails":"sk-very-secret"}`
	_, err := routing.Parse([]byte(doc), routing.Limits{})
	f := fault.From(err)
	if len(f.Details) != 4 || strings.Contains(err.Error(), "secret") {
		t.Errorf("details %q", f.Details)
	}
	for _, line := range f.Details {
		path, message, _ := strings.Cut(strings.TrimPrefix(line, "path: "), ", message: ")
		if !strings.Contains(f.Public, path+": "+message) {
			t.Errorf("%q is not in %q", line, f.Public)
		}
	}
	_, err = routing.Parse([]byte(`{"drop_params":[`+strings.Repeat("1,", 200)+`1]}`), routing.Limits{})
	if n := len(fault.From(err).Details); n != 20 {
		t.Errorf("%d details", n)
	}
}

func TestParseCountsTargets(t *testing.T) {
	t.Parallel()
	leaves := func(n int) string {
		return "[" + strings.Repeat(`{"provider":"@a"},`, n-1) + `{"name":"a","provider":"@a"}]`
	}
	const conditional = `{"mode":"conditional","conditions":[{"query":{"params.a":1},"then":"a"}]}`
	small := routing.Limits{RootTargets: 2, ConditionalTargets: 3, NestedTargets: 4}
	cases := []struct {
		name string
		doc  string
		lim  routing.Limits
		path string
	}{
		{"100", branch(`{"mode":"fallback"}`, leaves(100)), routing.Limits{}, ""},
		{"101", branch(`{"mode":"fallback"}`, leaves(101)), routing.Limits{}, "targets"},
		{"1000 conditional", branch(conditional, leaves(1000)), routing.Limits{}, ""},
		{"1001 conditional", branch(conditional, leaves(1001)), routing.Limits{}, "targets"},
		{"50 nested", branch(`{"mode":"single"}`, "["+branch(`{"mode":"fallback"}`, leaves(50))+"]"), routing.Limits{}, ""},
		{"51 nested", branch(`{"mode":"single"}`, "["+branch(`{"mode":"fallback"}`, leaves(51))+"]"), routing.Limits{}, "targets[0]"},
		{"own limit", branch(`{"mode":"fallback"}`, leaves(3)), small, "targets"},
		{"own conditional limit", branch(conditional, leaves(4)), small, "targets"},
		{"all levels count", branch(`{"mode":"single"}`, "["+branch(`{"mode":"single"}`, "["+branch(`{"mode":"single"}`, leaves(3))+",{\"provider\":\"@a\"}]")+"]"), small, "targets[0]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := routing.Parse([]byte(c.doc), c.lim)
			if c.path == "" && err != nil || c.path != "" && (err == nil || fault.From(err).Param != c.path) {
				t.Errorf("err %v, want path %q", err, c.path)
			}
		})
	}
}

func TestSingle(t *testing.T) {
	t.Parallel()
	cfg := routing.Single(routing.Target{Provider: "openai", Timeout: time.Second})
	if got := show(cfg.Root.Target); got != "config provider=openai timeout=1s" || len(cfg.Leaves()) != 1 {
		t.Error(got)
	}
}

func TestFieldsPrintNothing(t *testing.T) {
	t.Parallel()
	cfg := parse(t, `{"provider":"bedrock","aws_secret_access_key":"hush","api_key":"hush"}`)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(verb, *cfg.Root.Target); strings.Contains(s, "hush") {
			t.Errorf("%s prints %s", verb, s)
		}
	}
	if s := cfg.Root.Target.Fields.LogValue().String(); s != "***" {
		t.Errorf("logs %s", s)
	}
}

// A threshold of zero is inherited as any other, and replaced with the complete object.
func TestParse_InheritsAThresholdOfZero(t *testing.T) {
	t.Parallel()
	cfg := parse(t, `{"cache":{"mode":"semantic","threshold":0},"strategy":{"mode":"fallback"},"targets":[{"provider":"@a"},
		{"provider":"@b","cache":{"mode":"semantic"}},{"provider":"@c","cache":{"mode":"semantic","threshold":0.5}}]}`)
	for i, want := range []string{"{semantic 0s [] 0 false}", "{semantic 0s [] - false}", "{semantic 0s [] 0.5 false}"} {
		if got := cacheText(cfg.Leaves()[i].Cache); got != want {
			t.Errorf("target %d: %s, want %s", i, got, want)
		}
	}
}

// Documents that earlier versions stored keep their meaning: a cache age beyond a limit is the limit.
func TestParseStored_LimitsTheCacheAge(t *testing.T) {
	t.Parallel()
	for age, want := range map[string]time.Duration{"1": time.Minute, "60": time.Minute, "3600": time.Hour, "99999999": 90 * 24 * time.Hour} {
		doc := []byte(`{"provider":"@a","cache":{"mode":"simple","max_age":` + age + `}}`)
		cfg, err := routing.ParseStored(doc, routing.Limits{})
		if err != nil {
			t.Errorf("%s: %v", age, err)
		} else if got := cfg.Leaves()[0].Cache.MaxAge; got != want {
			t.Errorf("%s: %s, want %s", age, got, want)
		}
	}
	for _, invalid := range []string{`0`, `-5`, `"60"`} {
		if _, err := routing.ParseStored([]byte(`{"provider":"@a","cache":{"mode":"simple","max_age":`+invalid+`}}`), routing.Limits{}); err == nil {
			t.Errorf("%s is accepted", invalid)
		}
	}
}
