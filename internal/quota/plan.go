package quota

// Plan are the holds of a carrier's limits, ready to be copied: without amounts, which
// each call has of its own. It is shared and never changed. The zero value has none.
type Plan struct {
	Budgets []Hold
	Rates   []Hold
}

// noPlan is that of a carrier without limits.
var noPlan Plan

// NoPlan is the plan of whatever has no limits.
func NoPlan() *Plan { return &noPlan }

// NewPlan makes the holds of a carrier. What an integration is in one workspace counts
// its rates apart from the same integration in others.
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

// hold is what a call takes from the rate: requests are spent at once.
func (r Rate) hold() Hold {
	if r.Type == Requests {
		return Hold{Measure: Calls, Amount: 1, Limit: r.Value, Unit: r.Unit, Spent: true}
	}
	return Hold{Measure: TokenCount, Limit: r.Value, Unit: r.Unit}
}
