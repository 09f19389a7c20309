package gateway

import (
	"sluice/internal/domain/record"
	"sluice/internal/gateway/metering"
	"sluice/internal/kernel/fault"
)

// outcomeFor returns the billing outcome of an attempt that is recorded with o.
func (ac *accountant) outcomeFor(a *attempt, o record.Outcome) metering.Outcome {
	switch {
	case !a.money.IsSent():
		return metering.Unsent
	case a.money.Outcome() != metering.Answered:
		return a.money.Outcome()
	case a.drained && a.upstream >= 400:
		return metering.Refused
	case o == record.OK, a.drained, a.counted, a.denied:
		return metering.Answered
	case ac.unknowable(a, a.fault):
		return metering.AbandonedBackground
	case !a.committed && !a.bodyReadAt.IsZero() && a.upstream < 400 && a.log().Usage.Reported: // complete, but only its usage can be used
		return metering.Answered
	case a.failing != 0 && len(a.response.body) > 0 && !a.log().Usage.Reported && ac.answeredSome(a):
		return metering.Answered
	case !a.committed && a.fault == nil && o == record.Failed: // an error status, or an error in a response with a success status
		return metering.Refused
	case a.committed, a.log().BytesOut > 0 && a.upstream < 400:
		return metering.Broken
	case a.fault != nil && ofBody(a.fault): // the provider had begun to respond
		return metering.Abandoned
	case a.upstream >= 400 || o == record.Failed:
		return metering.Refused
	}
	return metering.Abandoned
}

// answeredSome reports whether a response that reports a failure contains text of the model.
func (ac *accountant) answeredSome(a *attempt) bool {
	return ac.counter.ResponseBody(a.x.match.Endpoint, a.response.body, a.priceName()).Tokens > 0
}

// retryOutcome returns the billing outcome of a call that was abandoned for a retry.
func (ac *accountant) retryOutcome(a *attempt, err error) metering.Outcome {
	switch {
	case !a.money.IsSent():
		return metering.Unsent
	case a.money.Outcome() != metering.Answered:
		return a.money.Outcome()
	case err == nil:
		return metering.Refused
	case a.job != nil: // the job may have begun
		return metering.AbandonedBackground
	case ac.unknowable(a, fault.From(err)):
		return metering.AbandonedBackground
	}
	return metering.Abandoned
}
