package control_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/control/resource"
	"sluice/internal/domain/mail"
	"sluice/internal/limits/quota"
)

// A budget that is used up exhausts its carrier and is told of once; with its period,
// or a higher limit, everything begins anew.
func TestBudgets(t *testing.T) {
	onEngines(t, func(t *testing.T, w *ageing) {
		key := w.call(t, "service", "POST", "/v1/api-keys/workspace/service", `{"name": "Batch", "scopes": ["completions.write"], "alert_emails": ["ops@acme.example"], "usage_limits": {"credit_limit": 10, "alert_threshold": 8, "periodic_reset": "weekly"}}`)["id"].(string)
		policy := w.call(t, "service", "POST", "/v1/policies/usage-limits", `{"conditions": [{"key": "model", "value": "*"}], "group_by": [{"key": "model"}], "type": "tokens", "credit_limit": 100, "alert_threshold": 50, "periodic_reset_days": 2}`)["id"].(string)
		workspaceID := w.call(t, "admin", "POST", "/v1/workspaces", `{"name": "Batch", "usage_limits": [{"credit_limit": 5}]}`)["id"].(string)
		state := func() string {
			k := w.call(t, "service", "GET", "/v1/api-keys/"+key, "")
			b := k["usage_limits"].(map[string]any)
			return fmt.Sprint(k["status"], " ", b["status"], " ", b["current_usage"], " ", b["is_threshold_alerts_sent"], " ", b["is_exhausted_alerts_sent"])
		}
		want := func(what, state, want string) {
			t.Helper()
			if state != want {
				t.Errorf("%s: %s, want %s", what, state, want)
			}
		}
		w.use(t, key+" 8000000000")
		w.run(t, "budgets")
		want("at the threshold", state(), "active active 8 true false")
		w.use(t, key+" 2500000000")
		w.use(t, workspaceID+" 5000000000")
		w.use(t, policy+" 120 model:openai.gpt-4o")
		w.run(t, "budgets")
		want("at the limit", state(), "exhausted exhausted 10.5 true true")
		want("mails", strings.Join(w.listMailTemplates(t), " "), "apikey-usage-exhausted-alert apikey-usage-threshold-alert entity-usage-exhausted-alert")
		want("crossings", fmt.Sprint(strings.Count(string(w.trail(t)), "threshold_crossed policies 200 by system")), "2")

		w.to(t, "2026-11-23T00:00:30Z") // a Monday
		w.run(t, "budgets")
		want("in the new week", state(), "active active 0 false false")
		p := w.call(t, "service", "GET", "/v1/policies/usage-limits/"+policy+"?include_usage=true", "")
		want("the policy", fmt.Sprint(p["value_key_usage_map"], p["next_usage_reset_at"], p["last_reset_at"]),
			"map[model:openai.gpt-4o:map[current_usage:0 is_exhausted_alerts_sent:false is_threshold_alerts_sent:false status:active]]2026-11-24T00:00:00.000Z2026-11-22T00:00:00.000Z")

		w.use(t, key+" 10000000000")
		w.run(t, "budgets")
		want("used up again", state(), "exhausted exhausted 10 true true")
		w.call(t, "service", "PUT", "/v1/api-keys/"+key, `{"usage_limits": {"credit_limit": 20, "alert_threshold": 15, "periodic_reset": "weekly"}}`)
		want("raised", state(), "active active 10 false false")
		w.call(t, "service", "PUT", "/v1/api-keys/"+key, `{"usage_limits": {"credit_limit": 9, "periodic_reset": "weekly"}}`)
		want("lowered", state(), "exhausted exhausted 10 false false")
		w.run(t, "budgets")
		want("lowered, at the next check", state(), "exhausted exhausted 10 false true")
		w.use(t, key+" -3000000000")
		w.run(t, "budgets")
		want("corrected", state(), "active active 7 false false")
		w.use(t, key+" 3000000000")
		w.run(t, "budgets")
		want("used up behind a correction", state(), "exhausted exhausted 10 false true")
		w.call(t, "service", "PUT", "/v1/api-keys/"+key, `{"reset_usage": true}`)
		want("reset", state(), "active active 0 false false")
		w.budgetsAreOnRecord(t, key, workspaceID, policy)
	})
}

// budgetsAreOnRecord looks for what TestBudgets did in the audit trail.
func (w *ageing) budgetsAreOnRecord(t *testing.T, key, workspaceID, policy string) {
	t.Helper()
	w.names.learn("key", key)
	w.names.learn("place", workspaceID)
	w.names.learn("policy", policy)
	var got []string
	for _, d := range w.deeds(t) {
		if !strings.HasPrefix(d, "threshold_crossed") {
			got = append(got, d)
		}
	}
	slices.Sort(got[:2]) // those of one run, in whatever order
	slices.Sort(got[2:4])
	same(t, "on record", got,
		`exhaust api_keys key {"notes":{"credit_limit":"10","current_usage":"10.5"}}`,
		`exhaust workspaces place {"notes":{"credit_limit":"5","current_usage":"5"}}`,
		`reset api_keys key {"notes":{"credit_limit":"10","current_usage":"10.5","reset_mode":"auto"}}`,
		`reset policies policy {"notes":{"credit_limit":"100","reset_mode":"auto"}}`,
		`exhaust api_keys key {"notes":{"credit_limit":"10","current_usage":"10"}}`,
		`exhaust api_keys key {"notes":{"credit_limit":"9","current_usage":"10"}}`,
		`relieve api_keys key {"notes":{"credit_limit":"9","current_usage":"7"}}`,
		`exhaust api_keys key {"notes":{"credit_limit":"9","current_usage":"10"}}`)
}

// A reset that has come holds where the schedule is changed before the worker came to it.
func TestAScheduleIsChangedBehindItsReset(t *testing.T) {
	onEngines(t, func(t *testing.T, w *ageing) {
		key := w.call(t, "service", "POST", "/v1/api-keys/workspace/service", `{"name": "Batch", "scopes": ["completions.write"], "usage_limits": {"credit_limit": 10, "periodic_reset": "weekly"}}`)["id"].(string)
		policy := w.call(t, "service", "POST", "/v1/policies/usage-limits", `{"conditions": [{"key": "model", "value": "*"}], "group_by": [{"key": "model"}], "type": "tokens", "credit_limit": 100, "periodic_reset": "weekly"}`)["id"].(string)
		w.use(t, key+" 10000000000")
		w.use(t, policy+" 80 model:openai.gpt-4o")
		w.run(t, "budgets")
		w.to(t, "2026-11-23T00:00:10Z") // a Monday
		w.call(t, "service", "PUT", "/v1/api-keys/"+key, `{"usage_limits": {"credit_limit": 10, "periodic_reset": "monthly"}}`)
		w.call(t, "service", "PUT", "/v1/policies/usage-limits/"+policy, `{"periodic_reset": "monthly"}`)
		w.run(t, "budgets")
		is := w.call(t, "service", "GET", "/v1/api-keys/"+key, "")
		if b := is["usage_limits"].(map[string]any); fmt.Sprint(is["status"], b["status"], b["current_usage"], b["next_usage_reset_at"]) != "activeactive02026-12-01T00:00:00.000Z" {
			t.Errorf("the key is %v: %v", is["status"], b)
		}
		p := w.call(t, "service", "GET", "/v1/policies/usage-limits/"+policy+"?include_usage=true", "")
		if u := p["value_key_usage_map"].(map[string]any)["model:openai.gpt-4o"].(map[string]any); fmt.Sprint(u["current_usage"], p["next_usage_reset_at"]) != "02026-12-01T00:00:00.000Z" {
			t.Errorf("the policy: %v, next %v", u, p["next_usage_reset_at"])
		}
	})
}

// An integration is used up in each of its workspaces apart, and told of there.
func TestIntegrationBudgets(t *testing.T) {
	onEngines(t, func(t *testing.T, w *ageing) {
		id := w.call(t, "admin", "POST", "/v1/integrations", `{"name": "OpenAI", "slug": "openai", "ai_provider_id": "openai", "key": "sk-s3cr3t-0123456789-abc"}`)["id"].(string)
		const grants = "/v1/integrations/openai/workspaces"
		w.call(t, "admin", "PUT", grants, `{"workspaces": [
			{"id": "ws-main", "enabled": true, "usage_limits": [{"credit_limit": 10, "alert_threshold": 8, "periodic_reset": "weekly"}]},
			{"id": "ws-two", "enabled": true, "usage_limits": [{"credit_limit": 10}]}], "global_workspace_access": {"enabled": true, "usage_limits": [{"type": "tokens", "credit_limit": 100}]}}`)
		third := w.call(t, "admin", "POST", "/v1/workspaces", `{"name": "Third", "slug": "ws-third"}`)["id"].(string)
		check := func(what string, want ...string) {
			t.Helper()
			var got []string
			for _, v := range w.call(t, "admin", "GET", grants, "")["workspaces"].([]any) {
				workspaceID := v.(map[string]any)
				for _, b := range workspaceID["usage_limits"].([]any) {
					b := b.(map[string]any)
					got = append(got, fmt.Sprint(workspaceID["id"], " ", workspaceID["status"], " ", b["current_usage"], " ", b["is_threshold_alerts_sent"], " ", b["is_exhausted_alerts_sent"]))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		w.use(t, w.names.reveal(id+"/<main> 8000000000"))
		w.use(t, id+"/"+third+" 100")
		w.run(t, "budgets")
		check("at the marks", "ws-main active 8 true false", "ws-two active 0 false false", "ws-third exhausted 100 false true")
		if got := strings.Join(w.listMailTemplates(t), " "); got != "entity-usage-exhausted-alert entity-usage-threshold-alert" {
			t.Errorf("mails: %s", got)
		}
		w.run(t, "outbox")
		if !slices.Contains(w.mailer.got, "owner@acme.example: OpenAI in Workspace main has used 8 USD of 10 USD") {
			t.Errorf("the letters are %q", w.mailer.got)
		}

		w.use(t, w.names.reveal(id+"/<main> 2000000000"))
		w.run(t, "budgets")
		w.to(t, "2026-11-23T00:00:30Z") // a Monday
		w.call(t, "admin", "PUT", grants, `{"global_workspace_access": {"enabled": true, "usage_limits": [{"type": "tokens", "credit_limit": 200}]}}`)
		check("raised for those who follow", "ws-main exhausted 10 true true", "ws-two active 0 false false", "ws-third active 100 false false")
		w.run(t, "budgets")
		check("in the new week", "ws-main active 0 false false", "ws-two active 0 false false", "ws-third active 100 false false")

		w.names.learn("openai", id)
		same(t, "on record", w.deeds(t),
			`exhaust integrations openai {"notes":{"credit_limit":"100","current_usage":"100"}}`,
			`exhaust integrations openai {"notes":{"credit_limit":"10","current_usage":"10"}}`,
			`reset integrations openai {"notes":{"credit_limit":"10","current_usage":"10","reset_mode":"auto"}}`)

		w.call(t, "admin", "DELETE", "/v1/workspaces/ws-third", `{"name": "Third", "force_delete": true}`)
		w.call(t, "admin", "PUT", grants, `{"workspaces": [{"id": "ws-two", "enabled": false}]}`)
		w.checkMeterCount(t, id, 1)
		w.call(t, "admin", "DELETE", "/v1/integrations/openai", "")
		w.checkMeterCount(t, id, 0)
	})
}

// checkMeterCount holds the number of meters of a carrier against what is wanted.
func (w *ageing) checkMeterCount(t *testing.T, subjectID string, want int) {
	t.Helper()
	n, err := w.store.CountMeters(t.Context(), w.store, quota.MeterQuery{SubjectID: subjectID})
	if err != nil || n != want {
		t.Errorf("there are %d meters of the carrier, want %d (%v)", n, want, err)
	}
}

// listMailTemplates are the templates of which there are mails, each once.
func (w *ageing) listMailTemplates(t *testing.T) []string {
	t.Helper()
	rows, err := w.store.List(t.Context(), resource.Query{Kind: mail.Kind, OrgID: w.org, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
