package live

import (
	"encoding/json"
	"fmt"

	"sluice/internal/control/resource"
	"sluice/internal/domain/credential"
	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/prompt"
	"sluice/internal/domain/respcache"
	"sluice/internal/domain/routing"
	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/sealed"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/quota"
)

const (
	active     = "active"
	configKind = routing.SavedKind
)

// decoders maps the followed kinds to the functions that decode a record into a part.
var decoders = map[string]func(*Directory, resource.Record) (any, error){
	keys.Kind:                  decodeKey,
	tenant.OrganisationKind:    decodeOrganisation,
	tenant.WorkspaceKind:       decodeWorkspace,
	tenant.UserKind:            decodeUser,
	tenant.MemberKind:          decodeMember,
	configKind:                 decodeConfig,
	credential.IntegrationKind: decodeIntegration,
	credential.ProviderKind:    decodeProvider,
	credential.VirtualKeyKind:  decodeVirtualKey,

	credential.SecretReferenceKind: decodeReference,

	quota.UsageLimitKind: decodeUsageLimit,
	quota.RateLimitKind:  decodeRateLimit,

	guardrail.Kind: decodeGuardrail,

	prompt.Kind:               decodePrompt,
	prompt.VersionKind:        decodePromptVersion,
	prompt.PartialKind:        decodePartial,
	prompt.PartialVersionKind: decodePartialVersion,
	prompt.LabelKind:          decodeLabel,

	respcache.PurgeKind: decodePurge,
}

type workspace struct {
	tenant.Workspace
	org, slug string
}

func decodeWorkspace(_ *Directory, r resource.Record) (any, error) {
	w := &workspace{org: r.OrgID, slug: r.ShownSlug()}
	return w, json.Unmarshal(r.Body, &w.Workspace)
}

type savedConfig struct {
	Config
	workspace string
}

func decodeConfig(d *Directory, r resource.Record) (any, error) {
	var saved routing.Saved
	if err := json.Unmarshal(r.Body, &saved); err != nil {
		return nil, err
	}
	text, err := saved.Open(d.box, r.ID)
	if err != nil {
		return nil, fmt.Errorf("decrypt config: %w", err)
	}
	doc, err := routing.ParseStored(text, d.limits)
	if err != nil {
		return nil, err
	}
	return &savedConfig{Config{r.ID, r.Slug, doc}, r.WorkspaceID}, nil
}

type integration struct {
	org, spec, status string
	values            map[string]string
	models            []credential.Model
	allModels         bool
	mappings          []sealed.Mapping
	overrides         map[string]map[string]string // of single models
	agreement         *catalog.PriceOverrides      // nil: it pays the list price
	limits            map[string]credential.WorkspaceLimits
}

func decodeIntegration(d *Directory, r resource.Record) (any, error) {
	var integ credential.Integration
	if err := json.Unmarshal(r.Body, &integ); err != nil {
		return nil, err
	}
	values, err := d.open("integration/"+r.ID, integ.Key, integ.Configurations)
	if err != nil {
		return nil, err
	}
	agreement, err := agreementOf(&integ)
	if err != nil {
		return nil, err
	}
	all := integ.AllowAllModels == nil || *integ.AllowAllModels
	overrides, err := d.overrides(r.ID, integ.Models)
	if err != nil {
		return nil, err
	}
	return &integration{r.OrgID, integ.AIProviderID, r.Status, values, integ.Models, all, integ.Mappings, overrides, agreement, integ.Limits}, nil
}

// overrides returns the configurations of single models of an integration, by model slug; nil
// for none.
func (d *Directory) overrides(id string, models []credential.Model) (map[string]map[string]string, error) {
	var all map[string]map[string]string
	for i := range models {
		if len(models[i].Sealed) == 0 {
			continue
		}
		values, err := d.open("integration/"+id, nil, models[i].Sealed)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = make(map[string]map[string]string)
		}
		all[models[i].Slug] = values
	}
	return all, nil
}

type savedProvider struct {
	org, workspace, integration string
	account                     credential.Account
	limits                      credential.WorkspaceLimits
}

func decodeProvider(_ *Directory, r resource.Record) (any, error) {
	var p credential.Provider
	if err := json.Unmarshal(r.Body, &p); err != nil {
		return nil, err
	}
	a := credential.Account{Kind: r.Kind, Slug: r.ShownSlug(), RecordID: r.ID, IntegrationID: p.IntegrationID, Status: r.Status, ExpiresAt: p.ExpiresAt, Free: p.Pricing == credential.PricingFree}
	return &savedProvider{r.OrgID, r.WorkspaceID, p.IntegrationID, a, credential.WorkspaceLimits{UsageLimits: p.UsageLimits, RateLimits: p.RateLimits}}, nil
}

type virtualKey struct {
	org, workspace string
	account        credential.Account
	mappings       []sealed.Mapping
	limits         credential.WorkspaceLimits
}

func decodeVirtualKey(d *Directory, r resource.Record) (any, error) {
	var vk credential.VirtualKey
	if err := json.Unmarshal(r.Body, &vk); err != nil {
		return nil, err
	}
	values, err := d.open("virtual_key/"+r.ID, vk.Key, vk.Sealed)
	if err != nil {
		return nil, err
	}
	a := credential.Account{Kind: r.Kind, Slug: r.ShownSlug(), RecordID: r.ID, Spec: vk.Provider, Status: r.Status, ExpiresAt: vk.ExpiresAt, AllModels: true, Values: values, Free: vk.Pricing == credential.PricingFree}
	return &virtualKey{r.OrgID, r.WorkspaceID, a, vk.Mappings, credential.WorkspaceLimits{UsageLimits: vk.UsageLimits, RateLimits: vk.RateLimits}}, nil
}

// open decrypts the main secret and the JSON object of further fields. A value that is not a
// string is returned as its JSON text.
func (d *Directory) open(context string, key, fields []byte) (map[string]string, error) {
	values := map[string]string{}
	if len(fields) > 0 {
		plain, err := d.box.Open(fields, context)
		if err != nil {
			return nil, fmt.Errorf("decrypt configurations: %w", err)
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(plain, &m); err != nil {
			return nil, fmt.Errorf("read configurations: %w", err)
		}
		for k, v := range m {
			var s string
			if json.Unmarshal(v, &s) != nil {
				s = string(v)
			}
			values[k] = s
		}
	}
	if len(key) > 0 {
		plain, err := d.box.Open(key, context)
		if err != nil {
			return nil, fmt.Errorf("decrypt key: %w", err)
		}
		values["key"] = string(plain)
	}
	return values, nil
}
