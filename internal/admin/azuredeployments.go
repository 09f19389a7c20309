package admin

import (
	"encoding/json"
	"slices"

	"sluice/internal/resource"
)

// deploymentsField is the field of a provider that lists the deployments at Azure.
const deploymentsField = "azure_deployment_config"

// deploymentNames are the names of what an entry of that list holds, by the shorter ones that
// clients send.
var deploymentNames = map[string]string{
	"deployment_name": "azure_deployment_name",
	"deployment_id":   "azure_deployment_name",
	"api_version":     "azure_api_version",
	"model_slug":      "azure_model_slug",
}

// plainDeployments writes the entries of a list of deployments with the names that the data
// plane reads. Those that an entry has under their own name, and other values, stay as they are.
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
	return encode(list)
}
