package prompts

import (
	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
)

// promptIn is the body of a creation.
type promptIn struct {
	Name         string         `json:"name" minLength:"1" maxLength:"255"`
	CollectionID string         `json:"collection_id" minLength:"1" maxLength:"255" doc:"Id or slug of the collection; its workspace is that of the prompt"`
	String       string         `json:"string" maxLength:"524288" doc:"Template text; for a chat the JSON text of its messages"`
	Parameters   map[string]any `json:"parameters" doc:"Model parameters, saved as sent"`
	VirtualKey   string         `json:"virtual_key" maxLength:"255" doc:"Slug of a provider or virtual key; may be empty when the model names one"`
	PromptContent
	WorkspaceID string `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; defaults to that of the collection"`
}

// promptPatch is the body of an update.
type promptPatch struct {
	Patch        bool           `json:"patch,omitempty" doc:"Takes omitted fields from the newest version"`
	Name         string         `json:"name,omitempty" minLength:"1" maxLength:"255"`
	CollectionID string         `json:"collection_id,omitempty" minLength:"1" maxLength:"255" doc:"Id or slug of a collection in the same workspace"`
	String       string         `json:"string,omitempty" maxLength:"524288"`
	Parameters   map[string]any `json:"parameters,omitempty"`
	VirtualKey   string         `json:"virtual_key,omitempty" maxLength:"255" doc:"Provider slug; sent alone or only with a description, it changes the published version"`
	PromptContent
	WorkspaceID string `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
}

// PromptContent contains the optional fields of a version.
type PromptContent struct {
	Model            string           `json:"model,omitempty" maxLength:"255"`
	Functions        []map[string]any `json:"functions,omitempty" nullable:"true" maxItems:"512"`
	Tools            []map[string]any `json:"tools,omitempty" nullable:"true" maxItems:"512"`
	ToolChoice       toolChoice       `json:"tool_choice,omitempty"`
	Description      *string          `json:"version_description,omitempty" nullable:"true" maxLength:"1024"`
	TemplateMetadata map[string]any   `json:"template_metadata,omitempty" doc:"template_type: chat or text, plus any other fields"`
	PromptMetadata   map[string]any   `json:"prompt_metadata,omitempty" doc:"Alias of template_metadata"`
	Metadata         map[string]any   `json:"metadata,omitempty" doc:"Alias of template_metadata"`
	IsRaw            jsonfield.Flag   `json:"is_raw_template,omitempty" doc:"1 renders the complete text first and then parses it as JSON"`
	AIModelID        string           `json:"ai_model_id,omitempty" maxLength:"255" doc:"Not used"`
}

// toolChoice is a keyword, an object, or null.
type toolChoice struct{}

// Schema describes toolChoice.
func (toolChoice) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString, Nullable: true}, {Type: huma.TypeObject, AdditionalProperties: true, Nullable: true}}}
}

// promptView is a prompt as clients see it: without a version in lists, with one of its versions
// in a read.
type promptView struct {
	ID            string         `json:"id" format:"uuid"`
	Slug          string         `json:"slug"`
	Name          string         `json:"name"`
	CollectionID  string         `json:"collection_id" format:"uuid"`
	WorkspaceID   string         `json:"workspace_id" format:"uuid"`
	Model         string         `json:"model"`
	Status        string         `json:"status" enum:"active,archived"`
	CreatedAt     resource.Stamp `json:"created_at"`
	LastUpdatedAt resource.Stamp `json:"last_updated_at"`
	Object        string         `json:"object" enum:"prompt"`

	String             *string            `json:"string,omitempty" doc:"This and the following fields describe the version, only in the response for a single prompt"`
	Parameters         jsonfield.Document `json:"parameters,omitempty"`
	VirtualKey         *string            `json:"virtual_key,omitempty"`
	Functions          jsonfield.Document `json:"functions,omitempty"`
	Tools              jsonfield.Document `json:"tools,omitempty"`
	ToolChoice         jsonfield.Document `json:"tool_choice,omitempty"`
	TemplateMetadata   jsonfield.Document `json:"template_metadata,omitempty"`
	IsRaw              *int               `json:"is_raw_template,omitempty" enum:"0,1"`
	Version            int                `json:"prompt_version,omitempty"`
	VersionID          string             `json:"prompt_version_id,omitempty" format:"uuid"`
	VersionStatus      string             `json:"prompt_version_status,omitempty" enum:"active,archived"`
	VersionDescription jsonfield.Document `json:"prompt_version_description,omitempty"`
	VersionLabelID     jsonfield.Document `json:"prompt_version_label_id,omitempty" doc:"Label assigned last, or null"`
	VersionLabelIDs    []string           `json:"prompt_version_label_ids,omitempty" nullable:"false"`
}

// promptVersionView is a version in the list of versions.
type promptVersionView struct {
	ID          string         `json:"id" format:"uuid"`
	PromptID    string         `json:"prompt_id" format:"uuid"`
	Template    templateView   `json:"prompt_template"`
	Version     int            `json:"prompt_version"`
	Description *string        `json:"prompt_description" nullable:"true"`
	LabelID     *string        `json:"label_id" nullable:"true" format:"uuid"`
	LabelIDs    []string       `json:"label_ids" nullable:"false"`
	IsRaw       int            `json:"is_raw_template" enum:"0,1"`
	IsDefault   bool           `json:"is_default"`
	CreatedAt   resource.Stamp `json:"created_at"`
	Status      string         `json:"status" enum:"active,archived"`
	Object      string         `json:"object" enum:"prompt"`
}

type templateView struct {
	String     string             `json:"string"`
	Parameters jsonfield.Document `json:"parameters,omitempty"`
}

// promptReceipt is the response to a creation.
type promptReceipt struct {
	ID        string `json:"id" format:"uuid"`
	Slug      string `json:"slug"`
	VersionID string `json:"version_id" format:"uuid"`
	Object    string `json:"object" enum:"prompt"`
}

// promptDone is the response to an update: {} if no version was changed.
type promptDone struct {
	ID        string `json:"id,omitempty" format:"uuid"`
	Slug      string `json:"slug,omitempty"`
	VersionID string `json:"prompt_version_id,omitempty" format:"uuid" doc:"Id of the version that was created or changed"`
	Object    string `json:"object,omitempty" enum:"prompt"`
}
