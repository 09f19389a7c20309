package logs

import (
	"context"

	"sluice/internal/control/directory"
	"sluice/internal/control/resource"
	"sluice/internal/domain/record"
	"sluice/internal/domain/routing"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

// logNames adds data to log records that their rows do not contain: the name of the
// organisation, the id of the config, and which of its texts was in force. It looks up each
// config once, and belongs to one goroutine.
type logNames struct {
	k       Deps
	c       *resource.Call
	org     string
	configs map[[2]string]*configTexts // by workspace and name
}

// configTexts are the texts of a config, newest first.
type configTexts struct {
	id       string
	versions []ConfigVersion
}

func (k attempts) newLogNames(ctx context.Context, c *resource.Call) (*logNames, error) {
	org, err := directory.FindOrganisation(ctx, c)
	if err != nil {
		return nil, err
	}
	return &logNames{k.Deps, c, org.Value.Name, make(map[[2]string]*configTexts)}, nil
}

// add completes the record of an attempt.
func (n *logNames) add(ctx context.Context, a *record.Attempt, m *LogMetrics) error {
	m.OrganisationName = n.org
	if a.ConfigID == "" || a.ConfigID == "inline" {
		return nil
	}
	texts, err := n.config(ctx, a.WorkspaceID, a.ConfigID)
	if err != nil {
		return err
	}
	m.ConfigID = texts.id
	for i := range texts.versions {
		if v := &texts.versions[i]; !v.Began.After(a.Started) {
			m.ConfigVersionID = v.ID
			break
		}
	}
	return nil
}

func (n *logNames) config(ctx context.Context, workspaceID, name string) (*configTexts, error) {
	key := [2]string{workspaceID, name}
	if known := n.configs[key]; known != nil {
		return known, nil
	}
	texts := &configTexts{}
	n.configs[key] = texts
	r, err := resource.FindByName(ctx, n.c.Reader, routing.SavedKind, access.Target{OrgID: n.c.OrgID, WorkspaceID: workspaceID}, name)
	if fault.Has(err, fault.NotFound) {
		return texts, nil
	}
	if err != nil {
		return nil, err
	}
	texts.id = r.ID
	texts.versions, err = n.k.ConfigVersions(ctx, n.c.Reader, r.ID)
	return texts, err
}
