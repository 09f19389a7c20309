package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// What the campaign calls things in the gateway.
const (
	upstreamSlug = "counting"
	model        = "gpt-4o"
	numberField  = "number" // of a call, in the metadata
)

// Budgets, in dollars. The tight one is used up within an epoch, in most of them.
const (
	wideLimit     = 1_000_000
	tightLimitMin = 10
	tightLimitMax = 200
)

const (
	nanoOfDollar = 1e9
	nanoOfCent   = 1e7
)

// api is the administration of the gateway, over HTTP.
type api struct {
	node  *node
	key   string // of the workspace
	admin string // of the organisation

	policies []string // that bind all calls
}

// price is what a token costs, in nano-dollars.
type price struct{ input, out int64 }

func (p price) cost(w work) int64 { return w.input*p.input + w.out*p.out }

// saveUpstream makes the upstream a provider of the workspace.
func (a *api) saveUpstream(ctx context.Context, address string) error {
	return a.call(ctx, http.MethodPost, "/integrations", map[string]any{
		"name": upstreamSlug, "slug": upstreamSlug, "ai_provider_id": "openai", "key": "sk-of-the-upstream",
		"configurations": map[string]any{"custom_host": address}, "default_provider_slug": upstreamSlug,
	}, nil)
}

// manyBudgets is how many policies bind every call besides the budget of its key: so many
// that its line on the ledger names a set of budgets in place of each.
const manyBudgets = 10

// savePolicies makes the budgets that all keys have of each policy, which none uses up.
func (a *api) savePolicies(ctx context.Context) error {
	each := []map[string]string{{"key": "api_key"}}
	for n := range manyBudgets {
		var made struct{ ID string }
		err := a.call(ctx, http.MethodPost, "/policies/usage-limits", map[string]any{
			"name": fmt.Sprintf("policy %d", n), "conditions": []map[string]string{{"key": "api_key", "value": "*"}}, "group_by": each,
			"type": "cost", "credit_limit": wideLimit,
		}, &made)
		if err != nil {
			return err
		}
		a.policies = append(a.policies, made.ID)
	}
	return nil
}

// usedOf is what a policy says that a key used.
func (a *api) usedOf(ctx context.Context, policy string, k *key) (int64, error) {
	var found struct {
		Data []struct {
			Used float64 `json:"current_usage"` // dollars
		}
	}
	if err := a.call(ctx, http.MethodGet, "/policies/usage-limits/"+policy+"/entities?search="+k.id, nil, &found); err != nil || len(found.Data) == 0 {
		return 0, err
	}
	return nano(found.Data[0].Used, nanoOfDollar), nil
}

// price reads the price of the model.
func (a *api) price(ctx context.Context) (price, error) {
	type rate struct {
		Price float64 `json:"price"` // cents
	}
	var out struct {
		Pay struct {
			Input rate `json:"request_token"`
			Out   rate `json:"response_token"`
		} `json:"pay_as_you_go"`
	}
	err := a.call(ctx, http.MethodGet, "/model-configs/pricing/openai/"+model, nil, &out)
	return price{nano(out.Pay.Input.Price, nanoOfCent), nano(out.Pay.Out.Price, nanoOfCent)}, err
}

// newEpoch makes the keys of an epoch.
func (a *api) newEpoch(ctx context.Context, number int, r *rand.Rand) (*epoch, error) {
	e := &epoch{number: number, began: time.Now()}
	for _, dollars := range []int64{wideLimit, tightLimitMin + r.Int64N(tightLimitMax-tightLimitMin)} {
		var made struct{ ID, Key string }
		err := a.call(ctx, http.MethodPost, "/api-keys/workspace/service", map[string]any{
			"name": fmt.Sprintf("epoch %d, %d dollars", number, dollars), "scopes": []string{"completions.write"},
			"usage_limits": map[string]any{"credit_limit": dollars},
		}, &made)
		if err != nil {
			return nil, err
		}
		e.keys = append(e.keys, &key{made.ID, made.Key, dollars * nanoOfDollar})
	}
	return e, nil
}

// books reads what the gateway says about a key.
func (a *api) books(ctx context.Context, k *key) (b books, err error) {
	var shown struct {
		Limits struct {
			Used float64 `json:"current_usage"`
		} `json:"usage_limits"`
	}
	if err := a.call(ctx, http.MethodGet, "/api-keys/"+k.id, nil, &shown); err != nil {
		return b, err
	}
	b.used = nano(shown.Limits.Used, nanoOfDollar)
	for _, policy := range a.policies {
		used, err := a.usedOf(ctx, policy, k)
		if err != nil {
			return b, err
		}
		b.policies = append(b.policies, used)
	}
	q := url.Values{"api_key_ids": {k.id}, "page_size": {"1000"}}
	for {
		var page struct {
			Data []logged
			Next string `json:"next_cursor"`
		}
		if err := a.call(ctx, http.MethodGet, "/logs?"+q.Encode(), nil, &page); err != nil {
			return b, err
		}
		for i := range page.Data {
			b.entries = append(b.entries, page.Data[i].entry())
		}
		if page.Next == "" {
			return b, nil
		}
		q.Set("after", page.Next)
	}
}

// logged is what is read of an entry of the request log.
type logged struct {
	ID        string            `json:"id"`
	RequestID string            `json:"request_id"`
	Cost      *float64          `json:"cost"` // cents
	MaxCost   float64           `json:"cost_bound"`
	State     string            `json:"cost_state"`
	Input     int64             `json:"req_units"`
	Out       int64             `json:"res_units"`
	Metadata  map[string]string `json:"metadata"`
}

func (l *logged) entry() entry {
	e := entry{id: l.ID, requestID: l.RequestID, state: l.State, input: l.Input, out: l.Out, maxCost: nano(l.MaxCost, nanoOfCent), priced: l.Cost != nil}
	if e.priced {
		e.cost = nano(*l.Cost, nanoOfCent)
	}
	e.number, _ = strconv.Atoi(l.Metadata[numberField]) // 0: a crash left no metadata
	return e
}

// rateStep is the part of a price that a factor is a multiple of.
const rateStep = 10

// adjust has a token of input cost so many tenths of its price.
func (a *api) adjust(ctx context.Context, tenths int64) error {
	return a.call(ctx, http.MethodPut, "/integrations/"+upstreamSlug, map[string]any{
		"pricing_adjustments": map[string]any{"multiplier": map[string]any{"request_token": float64(tenths) / rateStep}},
	}, nil)
}

// reRate bills the calls since an instant again and returns how many of them cost
// something else.
func (a *api) reRate(ctx context.Context, from time.Time) (changed int, err error) {
	var out struct{ Changed int }
	order := *a
	order.key = a.admin
	err = order.call(ctx, http.MethodPost, "/model-configs/pricing/re-rate", map[string]any{
		"time_of_generation_min": from.UTC(), "time_of_generation_max": from.Add(24 * time.Hour).UTC(), "dry_run": false,
	}, &out)
	return out.Changed, err
}

// changes reads what re-ratings did to an entry, the oldest first.
func (a *api) changes(ctx context.Context, id string) ([]change, error) {
	var shown struct {
		List []struct {
			Operation string  `json:"operation_id"`
			Before    float64 `json:"cost_before"` // dollars
			After     float64 `json:"cost_after"`
		} `json:"cost_corrections"`
	}
	if err := a.call(ctx, http.MethodGet, "/logs/"+id, nil, &shown); err != nil {
		return nil, err
	}
	out := make([]change, len(shown.List))
	for i, c := range shown.List {
		out[i] = change{c.Operation, nano(c.Before, nanoOfDollar), nano(c.After, nanoOfDollar)}
	}
	return out, nil
}

// caughtUp waits until the request log has every record of the journal.
func (a *api) caughtUp(ctx context.Context) error {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		page, err := a.do(ctx, http.MethodGet, a.node.base+"/metrics", nil)
		if err != nil {
			return err
		}
		if strings.Contains(string(page), "\nsluice_journal_lag_records 0\n") {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the request log does not catch up: %w", ctx.Err())
		case <-ticker.C:
		}
	}
}

// call makes a call of the administration; in and out may be nil.
func (a *api) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	text, err := a.do(ctx, method, a.node.base+"/v1"+path, body)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// maxPage bounds what is read of a page.
const maxPage = 16 << 20

func (a *api) do(ctx context.Context, method, address string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("x-gateway-api-key", a.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = &refusal{fmt.Sprintf("%s %s: %s: %.300s", method, req.URL.Path, resp.Status, text)}
	}
	return text, err
}

// refusal is an answer of a living gateway that is none of those expected.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }
