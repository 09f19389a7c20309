package quota

// Plan contains the holds of a subject's limits, ready to be copied. They have no amounts,
// since each call has its own. A plan is shared and never changed. The zero value has no
// holds.
type Plan struct {
	Budgets []Hold
	Rates   []Hold
}

// noPlan is the plan of a subject without limits.
var noPlan Plan

// NoPlan returns the plan of a subject without limits.
func NoPlan() *Plan { return &noPlan }

// NewPlan returns the holds of a subject's limits. The rates of an integration are counted
// separately in each workspace.
func NewPlan(subject Subject, name string, l Limits) *Plan {
	if len(l.Budgets) == 0 && len(l.Rates) == 0 {
		return NoPlan()
	}
	p := &Plan{Budgets: make([]Hold, 0, len(l.Budgets)), Rates: make([]Hold, 0, len(l.Rates))}
	owner := &Owner{Kind: subject.Kind, ID: subject.ID, Name: name}
	for i := range l.Budgets {
		b := &l.Budgets[i]
		p.Budgets = append(p.Budgets, Hold{
			Counter: CounterID{Subject: subject.ID, Entry: b.ID}, Owner: owner, Measure: b.Measure, Limit: b.Limit(), Soft: b.Soft(), ref: newCounterRef(),
		})
	}
	subjectID := subject.ID
	if subject.Kind == IntegrationWorkspace {
		subjectID += "/" + subject.WorkspaceID
	}
	for _, r := range l.Rates {
		h := r.hold()
		h.Counter, h.Owner, h.ref = CounterID{Subject: subjectID, Entry: RateEntry(r.Type, r.Unit)}, owner, newCounterRef()
		p.Rates = append(p.Rates, h)
	}
	return p
}

// hold returns the hold of the rate. Requests are spent at once.
func (r Rate) hold() Hold {
	if r.Type == Requests {
		return Hold{Measure: Calls, Amount: 1, Limit: r.Value, Unit: r.Unit, Spent: true}
	}
	return Hold{Measure: TokenCount, Limit: r.Value, Unit: r.Unit}
}
