package credentials

import (
	"encoding/json"
	"slices"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
)

// deploymentsField is the provider field that lists the Azure deployments.
const deploymentsField = "azure_deployment_config"

// deploymentNames maps the shorter field names that clients send to the names of the fields in
// an entry of that list.
var deploymentNames = map[string]string{
	"deployment_name": "azure_deployment_name",
	"deployment_id":   "azure_deployment_name",
	"api_version":     "azure_api_version",
	"model_slug":      "azure_model_slug",
}

// plainDeployments renames the fields in a list of deployments to the names that the data plane
// reads. Fields with their full name and other values do not change.
func plainDeployments(raw json.RawMessage) json.RawMessage {
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil || slices.ContainsFunc(list, func(entry map[string]json.RawMessage) bool { return entry == nil }) {
		return raw
	}
	changed := false
	for _, entry := range list {
		for name, v := range entry {
			to := resource.SnakeName(name)
			if long, ok := deploymentNames[to]; ok {
				to = long
			}
			if _, taken := entry[to]; taken || to == name {
				continue
			}
			entry[to] = v
			delete(entry, name)
			changed = true
		}
	}
	if !changed {
		return raw
	}
	return jsonfield.Encode(list)
}
