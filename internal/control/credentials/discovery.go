package credentials

import (
	"context"
	"net/http"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/kernel/access"
	"sluice/internal/provider"
)

// discovery are the routes that show a client the valid contents of fields in other routes:
// scopes of keys and credential fields of providers. They contain nothing
// of the organisation, so every identified caller may use them. They are ours.
func (k models) discovery() resource.Resource {
	op := func(path, id, summary string, response any, run func(context.Context, *resource.Call) (any, error)) resource.Operation {
		return resource.Operation{Method: http.MethodGet, Path: "/discovery/" + path, ID: id, Summary: summary, Tag: "Discovery", Anywhere: true, Response: response, Run: run}
	}
	return resource.Operations{
		op("scopes", "listScopes", "List the scopes of API keys and the key types that may have them", resource.ListOf[scopeView]{}, listScopes),
		op("providers", "listProviderFields", "List the providers and their credential fields", resource.ListOf[providerFieldsView]{}, k.listProviderFields),
	}
}

// scopeView is a scope as clients see it.
type scopeView struct {
	Scope    string           `json:"scope" doc:"Scope, for example completions.write"`
	KeyTypes []access.KeyType `json:"key_types" nullable:"false" enum:"organisation-service,workspace-service,workspace-user"`
	Object   string           `json:"object" enum:"scope"`
}

func listScopes(context.Context, *resource.Call) (any, error) {
	var list []scopeView
	for _, name := range access.All() {
		v := scopeView{Scope: name, KeyTypes: []access.KeyType{}, Object: "scope"}
		for _, t := range []access.KeyType{access.OrganisationService, access.WorkspaceService, access.WorkspaceUser} {
			if may, _ := access.MayHold(t, name); may {
				v.KeyTypes = append(v.KeyTypes, t)
			}
		}
		list = append(list, v)
	}
	return resource.CompleteList(list), nil
}

// providerFieldsView is a provider with the fields that its integrations accept.
type providerFieldsView struct {
	ID      string          `json:"id" doc:"Value of ai_provider_id"`
	Name    string          `json:"name"`
	Aliases []string        `json:"aliases" nullable:"false"`
	BaseURL string          `json:"base_url" doc:"Base URL; if empty, custom_host is required"`
	Fields  []providerField `json:"fields" nullable:"false"`
	Object  string          `json:"object" enum:"ai-provider"`
}

// providerField is a field of configurations, or the key.
type providerField struct {
	Name       string           `json:"name"`
	Required   bool             `json:"required"`
	RequiredIf []fieldCondition `json:"required_if,omitempty" doc:"Required when all of these conditions are met"`
	Secret     bool             `json:"secret"`
	Default    string           `json:"default,omitempty"`
	Values     []string         `json:"values,omitempty" doc:"Allowed values; absent: any"`
}

type fieldCondition struct {
	Field  string   `json:"field"`
	Values []string `json:"values" nullable:"false"`
}

func (k models) listProviderFields(context.Context, *resource.Call) (any, error) {
	specs := k.Specs.All()
	list := make([]providerFieldsView, len(specs))
	for i, s := range specs {
		v := providerFieldsView{ID: s.ID, Name: s.Name, Aliases: jsonfield.OrEmpty(slices.Clone(s.Aliases)), BaseURL: s.BaseURL, Fields: []providerField{}, Object: "ai-provider"}
		for j := range s.Fields {
			if f := &s.Fields[j]; !f.Deployment {
				v.Fields = append(v.Fields, viewField(f))
			}
		}
		list[i] = v
	}
	return resource.CompleteList(list), nil
}

func viewField(f *provider.Field) providerField {
	v := providerField{Name: f.Name, Required: f.Required, Secret: f.Secret, Default: f.Default, Values: f.Values}
	for _, c := range f.RequiredIf {
		v.RequiredIf = append(v.RequiredIf, fieldCondition{c.Field, jsonfield.OrEmpty(c.Is)})
	}
	return v
}
