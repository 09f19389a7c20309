// Package grants stores which workspaces may use an integration of the organisation. Integrations
// of model providers, MCP and agents share it. Start reading at Set.
package grants
