package routing

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// credentialFields are the provider fields that a target may have.
// Source: contract/dataplane.md 1.2 and 3.3, contract/providers.yaml.
var credentialFields = strings.Fields(`
	resource_name deployment_id api_version
	amzn_sagemaker_custom_attributes amzn_sagemaker_enable_explanations amzn_sagemaker_inference_component
	amzn_sagemaker_inference_id amzn_sagemaker_model_name amzn_sagemaker_session_id
	amzn_sagemaker_target_container_hostname amzn_sagemaker_target_model amzn_sagemaker_target_variant
	anthropic_api_key anthropic_aws_workspace_id anthropic_beta anthropic_inspect_stream_for_overloaded_error anthropic_version
	aws_access_key_id aws_auth_type aws_bedrock_model aws_external_id aws_region aws_role_arn aws_s3_bucket
	aws_s3_object_key aws_secret_access_key aws_server_side_encryption aws_server_side_encryption_kms_key_id
	aws_service aws_session_token
	azure_ad_token azure_api_version azure_auth_mode azure_deployment_id azure_deployment_name azure_deployment_type
	azure_endpoint_name azure_entra_client_id azure_entra_client_secret azure_entra_scope azure_entra_tenant_id
	azure_extra_parameters azure_extra_params azure_foundry_url azure_managed_client_id azure_model_name azure_region
	azure_resource_name azure_workload_client_id azure_workload_tenant_id
	byteplus_region databricks_serving_endpoint_name databricks_workspace filename
	fireworks_account_id fireworks_file_length huggingface_base_url mistral_fim_completion
	openai_beta openai_organization openai_project
	oracle_api_version oracle_compartment_id oracle_fingerprint oracle_key_passphrase oracle_private_key oracle_region
	oracle_serving_mode oracle_tenancy oracle_user
	snowflake_account stability_client_id stability_client_user_id stability_client_version
	stability_user_id stability_version
	vertex_auth_type vertex_batch_endpoint vertex_model_name vertex_project_id vertex_region vertex_service_account_json
	vertex_skip_ptu_cost_attribution vertex_storage_bucket_name
	workers_ai_account_id`)

// withCredentials adds the provider fields to those of a level.
func withCredentials(fs fields[draft]) fields[draft] {
	for _, name := range credentialFields {
		read := credential(name)
		fs[name] = field[draft]{name, read}
		fs[camel(name)] = field[draft]{name, read}
	}
	return fs
}

// credential reads one provider field. Numbers and booleans are stored as text, as in the
// headers for the same fields. Only the service account may be an object, and anthropic_beta
// may be a list.
func credential(name string) reader[draft] {
	return func(p *parser, path string, v gjson.Result, d *draft) {
		var text string
		switch {
		case v.Type == gjson.Number, v.IsBool():
			text = v.Raw
		case name == "vertex_service_account_json" && v.IsObject():
			text = compact(v.Raw)
		case name == "anthropic_beta" && v.IsArray():
			text = strings.Join(p.texts(path, v), ",")
		default:
			text = p.text(path, v)
		}
		d.setField(name, text)
	}
}

func (d *draft) setField(name, text string) {
	if d.fields == nil {
		d.fields = Fields{}
	}
	d.fields[name] = text
}

// compact removes the white space between the tokens of valid JSON.
func compact(raw string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(raw)); err != nil {
		return raw // cannot happen: the document was checked
	}
	return b.String()
}

var deploymentFields = bothSpellings(map[string]reader[Deployment]{
	"deployment_id": func(p *parser, path string, v gjson.Result, d *Deployment) { d.DeploymentID = p.text(path, v) },
	"alias":         func(p *parser, path string, v gjson.Result, d *Deployment) { d.Alias = p.text(path, v) },
	"api_version":   func(p *parser, path string, v gjson.Result, d *Deployment) { d.APIVersion = p.text(path, v) },
	"is_default":    func(p *parser, path string, v gjson.Result, d *Deployment) { d.Default = p.flag(path, v) },
})

// readDeployments reads the list. It also stores the list in the fields, with the name and
// shape of saved providers.
func readDeployments(p *parser, path string, v gjson.Result, to *draft) {
	to.deployments = []Deployment{}
	p.eachItem(path, v, func(path string, v gjson.Result) {
		var d Deployment
		if readObject(p, path, v, deploymentFields, &d) && (d.DeploymentID == "" || d.Alias == "" || d.APIVersion == "") {
			p.failf(path, "deployment_id, alias and api_version are required")
		}
		to.deployments = append(to.deployments, d)
	})
	if len(to.deployments) == 0 {
		p.failf(path, "must have at least one deployment")
	}
	raw, err := json.Marshal(to.deployments)
	if err != nil { // strings and booleans: cannot happen
		p.failf(path, "cannot be stored")
	}
	to.setField("azure_deployment_config", string(raw))
}
