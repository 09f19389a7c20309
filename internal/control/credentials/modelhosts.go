package credentials

import (
	"encoding/json"
	"fmt"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
)

// modelConfigurationsIn are the configurations of one model of an integration.
// Source: contract/identity-and-governance.yaml, IntegrationModelIn.
type modelConfigurationsIn struct {
	CustomHost    string            `json:"custom_host,omitempty" maxLength:"2048" doc:"address of this model; where a key is stored, at the host of the integration or of its provider, or at one of STORED_KEY_HOSTS"`
	CustomHeaders map[string]string `json:"custom_headers,omitempty" writeOnly:"true" doc:"Headers of calls to the model"`
}

// modelConfigurations are the configurations in an entry of a body: whether they were sent, and
// their stored form, nil for none.
type modelConfigurations struct {
	sent   bool
	sealed []byte
}

// readModelConfigurations reads and seals the configurations in the list models of a body, one
// for each entry.
func (k models) readModelConfigurations(c *resource.Call, ch *resource.Edit[credential.Integration]) ([]modelConfigurations, error) {
	var lines []struct {
		Configurations json.RawMessage `json:"configurations"`
	}
	if err := c.Sent.Into("models", &lines); err != nil {
		return nil, err
	}
	out := make([]modelConfigurations, len(lines))
	for i, line := range lines {
		if out[i].sent = line.Configurations != nil; !out[i].sent || string(line.Configurations) == "null" {
			continue
		}
		path := fmt.Sprintf("models[%d].configurations", i)
		var in modelConfigurationsIn
		if err := json.Unmarshal(line.Configurations, &in); err != nil {
			return nil, fault.New(fault.InvalidParameter, "must be an object with custom_host and custom_headers").WithParam(path).WithCause(err)
		}
		if in.CustomHost == "" && len(in.CustomHeaders) == 0 {
			return nil, fault.New(fault.InvalidParameter, "send custom_host or custom_headers, or null to remove them").WithParam(path)
		}
		if err := k.checkModelHost(&ch.New.Value, ch.New.ID, in.CustomHost, path+".custom_host"); err != nil {
			return nil, err
		}
		var err error
		if out[i].sealed, err = k.Box.Seal(jsonfield.Encode(in), credential.IntegrationKind+"/"+ch.New.ID); err != nil {
			return nil, fmt.Errorf("seal the configurations of a model: %w", err)
		}
	}
	return out, nil
}

// checkModelHost rejects an address that stored secrets may not be sent to, by the rule for
// calls. Otherwise a caller who may change the list of models could have secrets sent to a host
// of their own.
func (k models) checkModelHost(in *credential.Integration, id, host, path string) error {
	if host == "" {
		return nil
	}
	if err := k.Guard.CheckURL(host); err != nil {
		return fault.From(err).WithParam(path)
	}
	spec, err := specs(k).findSpec(in.AIProviderID, "ai_provider_id")
	if err != nil {
		return err
	}
	s := secrets{k: k.Deps, spec: spec, context: credential.IntegrationKind + "/" + id, field: "configurations"}
	stored, err := s.open(in.Key, in.Configurations)
	if err != nil {
		return err
	}
	if s.unsentSecretPath(stored, nil, nil, in.Mappings) == "" || k.Guard.MayReceive(host, s.targetHost(stored, in.Mappings), spec.BaseURL) {
		return nil
	}
	return fault.New(fault.InvalidParameter, "the stored credentials of the integration would go to another host: make an integration for that host, or have the operator list its host:port in STORED_KEY_HOSTS").WithParam(path)
}

// viewModelConfigurations shows the configurations of a model, with its headers masked; nil for
// none.
func (k models) viewModelConfigurations(id string, m *credential.Model) (map[string]any, error) {
	if len(m.Sealed) == 0 {
		return nil, nil
	}
	plain, err := k.Box.Open(m.Sealed, credential.IntegrationKind+"/"+id)
	if err != nil {
		return nil, fmt.Errorf("open the configurations of a model: %w", err)
	}
	var in struct {
		Host    string          `json:"custom_host"`
		Headers json.RawMessage `json:"custom_headers"`
	}
	if err := json.Unmarshal(plain, &in); err != nil {
		return nil, fmt.Errorf("read the configurations of a model: %w", err)
	}
	out := make(map[string]any)
	if in.Host != "" {
		out[customHost] = in.Host
	}
	if len(in.Headers) > 0 {
		out[maskPrefix+customHeaders] = maskedHeaders(in.Headers)
	}
	return out, nil
}
