package jsonfield

// OwnerIn names the owner of a new record.
type OwnerIn struct {
	WorkspaceID    string `json:"workspace_id,omitempty" doc:"Id or slug of the workspace; for Admin keys"`
	OrganisationID string `json:"organisation_id,omitempty" format:"uuid" doc:"Organisation of the API key"`
}
