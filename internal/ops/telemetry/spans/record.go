package spans

import (
	"encoding/json"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/ops/telemetry/genai"
)

// maxMetadata bounds the values of metadata, in bytes.
// Source: contract/dataplane.md 1.1.
const maxMetadata = 128

// entry is a record and the content of its body.
type entry struct {
	*record.Attempt
	holds map[string]any
}

// record returns a record of the sender, with the attributes of a resource and its own
// attributes.
func (o *origin) record(about, with values) *record.Attempt {
	id := ident.NewID()
	a := &record.Attempt{
		ID: id, RequestID: id, OrgID: o.by.OrgID, WorkspaceID: o.by.WorkspaceID, KeyID: o.by.ID, KeyName: o.by.Name, UserID: o.by.UserID,
		Source: record.FromOTLP, Endpoint: llm.Proxy, Outcome: record.OK, Status: 200,
	}
	a.Metadata = make(map[string]string, 2)
	for name, v := range map[string]string{genai.ServiceName: about.text(genai.ServiceName), record.UserKey: with.text(genai.UserID)} {
		if v != "" && len(v) <= maxMetadata {
			a.Metadata[name] = v
		}
	}
	return a
}

// truncatedBody returns a span's content, truncated to the deployment's limit for bodies.
func (v *Receiver) truncatedBody(content map[string]any) record.Body {
	b, err := json.Marshal(content)
	if err != nil { // strings, numbers and lists of them: cannot happen
		return record.Body{}
	}
	out := record.Body{Type: "application/json", Bytes: b, Size: int64(len(b))}
	if len(b) > v.BodyLogBytes {
		out.Bytes, out.Truncated = b[:v.BodyLogBytes], true
	}
	return out
}

// price returns the cost of a call at the present prices. No budget is charged, because the
// gateway did not make the call.
func (v *Receiver) price(a *record.Attempt) record.Spend {
	var basis catalog.Basis
	units := basis.Units(a.Endpoint, &a.Usage)
	units.StartedAt = a.Started
	bill := v.Prices.Find(a.Provider, a.Model, nil).Cost(&units, nil)
	s := record.Spend{State: record.SpentElsewhere, Cost: bill.Cost, Unpriced: bill.MissingPrice(), Version: bill.Version}
	if len(bill.Terms) > 0 {
		if terms, err := json.Marshal(bill.Terms); err == nil { // strings and numbers: cannot fail
			s.Terms = string(terms)
		}
	}
	return s
}
