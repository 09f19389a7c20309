package upstreams

import (
	"context"
	"net/http"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/agent"
	"sluice/internal/kernel/fault"
)

// skillsIn switches skills on and off.
// Source: contract/content-and-observability.yaml, /agent-integrations/{id}/skills.
type skillsIn struct {
	Skills []skillIn `json:"skills,omitempty" nullable:"false" minItems:"1" maxItems:"500"`
}

type skillIn struct {
	ID      string `json:"id" minLength:"1" maxLength:"255"`
	Enabled bool   `json:"enabled" doc:"True unless it was disabled"`
}

// skillView is a skill as clients see it.
type skillView struct {
	ID                 string   `json:"id"`
	Name               string   `json:"name"`
	Description        *string  `json:"description" nullable:"true"`
	Tags               []string `json:"tags" nullable:"false"`
	Enabled            bool     `json:"enabled" doc:"Servers: state in the workspace. Users: state in the workspace and at the integration"`
	IntegrationEnabled *bool    `json:"integration_enabled,omitempty" doc:"State at the integration of a server; for keys without a user"`
}

func viewSkill(s agent.Skill, enabled bool) skillView {
	return skillView{ID: s.ID, Name: s.Name, Description: jsonfield.OrNull(s.Description), Tags: append([]string{}, s.Tags...), Enabled: enabled}
}

func (k agents) agentIntegrationSkills() []resource.Action[agent.Integration] {
	return []resource.Action[agent.Integration]{
		{
			Name: "read", Scope: "agent_integration_skills.read", Method: http.MethodGet, Path: "/skills", ID: "listAgentIntegrationSkills", Summary: "List the skills of an agent",
			Response: resource.ListOf[skillView]{}, Read: func(ctx context.Context, c *resource.Call, r resource.Row[agent.Integration]) (any, error) {
				card, err := readCard(ctx, c.Reader, r.ID)
				if err != nil {
					return nil, err
				}
				return skillList(agent.Listed(card, r.Value.Off), func(s agent.Skill) skillView { return viewSkill(s, !r.Value.Off.Has(s.ID)) }), nil
			},
		},
		{
			Name: "switch", Scope: "agent_integration_skills.update", Method: http.MethodPut, Path: "/skills", ID: "updateAgentIntegrationSkills",
			Summary: "Enable or disable skills of an agent for all workspaces", Body: skillsIn{}, Response: doneView{},
			Run: func(_ context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[agent.Integration]) (any, error) {
				return switchSkills(c, &ch.New.Value.Off)
			},
		},
	}
}

func (k agents) agentServerSkills() []resource.Action[agent.Server] {
	return []resource.Action[agent.Server]{
		{
			Name: "read", Scope: "agent_server_skills.read", Method: http.MethodGet, Path: "/skills", ID: "listAgentServerSkills", Summary: "List the skills of a server's agent",
			Response: resource.ListOf[skillView]{}, Read: k.listServerSkills,
		},
		{
			Name: "switch", Scope: "agent_server_skills.update", Method: http.MethodPut, Path: "/skills", ID: "updateAgentServerSkills",
			Summary: "Enable or disable skills of an agent in the workspace", Body: skillsIn{}, Response: doneView{},
			Run: func(_ context.Context, _ resource.Tx, c *resource.Call, ch *resource.Edit[agent.Server]) (any, error) {
				return switchSkills(c, &ch.New.Value.Off)
			},
		},
	}
}

func (k agents) listServerSkills(ctx context.Context, c *resource.Call, r resource.Row[agent.Server]) (any, error) {
	integration, card, err := k.findServerCard(ctx, c.Reader, &r.Value)
	if err != nil {
		return nil, err
	}
	return skillList(agent.Listed(card, integration.Value.Off, r.Value.Off), func(s agent.Skill) skillView {
		enabled, above := switchesShown(c, !integration.Value.Off.Has(s.ID), !r.Value.Off.Has(s.ID))
		v := viewSkill(s, enabled)
		v.IntegrationEnabled = above
		return v
	}), nil
}

func skillList(all []agent.Skill, show func(agent.Skill) skillView) resource.ListOf[skillView] {
	list := make([]skillView, len(all))
	for i, s := range all {
		list[i] = show(s)
	}
	return resource.CompleteList(list)
}

func switchSkills(c *resource.Call, off *agent.Switches) (any, error) {
	var sent []skillIn
	if err := c.Sent.Into("skills", &sent); err != nil {
		return nil, err
	}
	if len(sent) == 0 && !c.ChangesNothing() {
		return nil, fault.New(fault.InvalidRequest, "must list at least one skill to enable or disable").WithParam("skills")
	}
	next := *off
	for _, s := range sent {
		next = next.Set(s.ID, s.Enabled)
	}
	*off = next
	return doneView{true}, next.Check()
}
