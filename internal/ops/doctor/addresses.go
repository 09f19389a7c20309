package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/sealed"
	"sluice/internal/provider"
)

// addresses returns the sorted addresses of saved integrations, virtual keys and configs, one
// per scheme and host, without the ignored integrations. It returns nil if the database is empty or cannot be read.
func (d *Deployment) addresses(ctx context.Context, specs *provider.Table, ignored []string) ([]string, error) {
	if d.db == nil || d.box == nil || d.fresh {
		return nil, nil
	}
	found := hosts{box: d.box, specs: specs, ignored: ignored, addresses: map[string]string{}}
	for kind, add := range map[string]func(resource.Record) error{
		credential.IntegrationKind: found.integration, credential.VirtualKeyKind: found.virtualKey, routing.SavedKind: found.config,
	} {
		for q := (resource.Query{Kind: kind, Statuses: []string{resource.Active}, Limit: 500}); ; {
			rows, err := d.db.List(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, r := range rows {
				if err := add(r); err != nil {
					return nil, fmt.Errorf("%s %q: %w", kind, r.Name, err)
				}
			}
			if len(rows) < q.Limit {
				break
			}
			q.After = rows[len(rows)-1].ID
		}
	}
	return slices.Sorted(maps.Values(found.addresses)), nil
}

// hosts collects addresses by scheme and host.
type hosts struct {
	box       *sealed.Sealer
	specs     *provider.Table
	ignored   []string // ids of integrations
	addresses map[string]string
}

func (h hosts) integration(r resource.Record) error {
	var integration credential.Integration
	if err := json.Unmarshal(r.Body, &integration); err != nil || slices.Contains(h.ignored, r.ID) {
		return err
	}
	for i := range integration.Models {
		if len(integration.Models[i].Sealed) == 0 {
			continue
		}
		if err := h.account(integration.AIProviderID, integration.Models[i].Sealed, credential.IntegrationKind+"/"+r.ID); err != nil {
			return err
		}
	}
	return h.account(integration.AIProviderID, integration.Configurations, credential.IntegrationKind+"/"+r.ID)
}

func (h hosts) virtualKey(r resource.Record) error {
	var k credential.VirtualKey
	if err := json.Unmarshal(r.Body, &k); err != nil {
		return err
	}
	return h.account(k.Provider, k.Sealed, credential.VirtualKeyKind+"/"+r.ID)
}

// account adds the address that a provider account uses. It takes the address from the plan of
// a call. If the stored fields are not enough for a plan, it takes the custom host or else the
// base URL of the provider. add skips addresses that a call has yet to complete.
func (h hosts) account(id string, fields []byte, context string) error {
	values := provider.Values{}
	if len(fields) > 0 {
		plain, err := h.box.Open(fields, context)
		if err != nil {
			return err
		}
		var stored map[string]any
		if err := json.Unmarshal(plain, &stored); err != nil {
			return err
		}
		for name, v := range stored {
			if text, ok := v.(string); ok {
				values[name] = text
			}
		}
	}
	spec, ok := h.specs.Find(id)
	if !ok {
		return nil
	}
	values[provider.Key] = "none"
	plan, err := spec.Plan(provider.Call{Endpoint: "listModels", Method: http.MethodGet, Path: "/models"}, values)
	switch {
	case err == nil:
		h.add(plan.Scheme + "://" + plan.Host + plan.Base)
	case values["custom_host"] != "":
		h.add(values["custom_host"])
	default:
		h.add(spec.BaseURL)
	}
	return nil
}

// config adds the custom hosts of a saved config, at any depth.
func (h hosts) config(r resource.Record) error {
	var saved routing.Saved
	if err := json.Unmarshal(r.Body, &saved); err != nil {
		return err
	}
	text, err := saved.Open(h.box, r.ID)
	if err != nil {
		return err
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return err
	}
	h.walk(doc)
	return nil
}

func (h hosts) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			h.walk(item)
		}
	case map[string]any:
		for name, item := range v {
			if host, ok := item.(string); ok && (name == "custom_host" || name == "customHost") {
				h.add(host)
			}
			h.walk(item)
		}
	}
}

// add adds an address that is a valid URL without placeholders, if its scheme and host are new.
func (h hosts) add(address string) {
	if u, err := url.Parse(address); err == nil && u.Host != "" && !strings.ContainsAny(address, "{}") {
		key := u.Scheme + "://" + u.Host
		if _, known := h.addresses[key]; !known {
			h.addresses[key] = address
		}
	}
}
