package modellist

import (
	"encoding/json"
	"time"

	"sluice/internal/domain/credential"
)

// model is one entry of the model list, in OpenAI's format.
type model struct {
	ID       string `json:"id"` // "@slug/model", usable as the model of a call
	Object   string `json:"object"`
	Created  int64  `json:"created"`
	OwnedBy  string `json:"owned_by"` // "openai"
	Provider string `json:"provider"` // "@slug"
}

func newModel(a *credential.Account, provider, name string) *model {
	return &model{ID: provider + "/" + name, Object: "model", OwnedBy: a.Spec, Provider: "@" + a.Slug}
}

// anthropicModel is one entry of the list in Anthropic's format.
// Source: https://platform.claude.com/docs/en/api/models/list, read 2026-11.
type anthropicModel struct {
	Type        string    `json:"type"` // "model"
	ID          string    `json:"id"`   // "@slug/model"
	DisplayName string    `json:"display_name"`
	CreatedAt   time.Time `json:"created_at"`
}

func (m *model) toAnthropic() anthropicModel {
	return anthropicModel{Type: "model", ID: m.ID, DisplayName: m.ID, CreatedAt: time.Unix(m.Created, 0).UTC()}
}

// anthropicList returns the list in Anthropic's format, on one page.
func anthropicList(rows []model) ([]byte, error) {
	list := struct {
		Data    []anthropicModel `json:"data"`
		HasMore bool             `json:"has_more"`
		FirstID *string          `json:"first_id"`
		LastID  *string          `json:"last_id"`
	}{Data: []anthropicModel{}}
	for i := range rows {
		list.Data = append(list.Data, rows[i].toAnthropic())
	}
	if n := len(list.Data); n > 0 {
		list.FirstID, list.LastID = &list.Data[0].ID, &list.Data[n-1].ID
	}
	return json.Marshal(list)
}
