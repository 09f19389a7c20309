package requestlogtest

import (
	"context"
	"slices"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog"
)

// memoryFeedback is the feedback that a Memory has.
type memoryFeedback struct {
	feedbacks []record.TraceFeedback
	next      int64
}

// FeedbackProgress implements requestlog.Feedback.
func (m *Memory) FeedbackProgress(context.Context) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.feedback.next, nil
}

// PutFeedback implements requestlog.Feedback.
func (m *Memory) PutFeedback(_ context.Context, b requestlog.FeedbackBatch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.feedback.feedbacks = slices.DeleteFunc(m.feedback.feedbacks, func(f record.TraceFeedback) bool {
		again := slices.ContainsFunc(b.Put, func(p record.TraceFeedback) bool { return p.ID == f.ID })
		return b.All || again || slices.Contains(b.Gone, f.ID)
	})
	m.feedback.feedbacks = append(m.feedback.feedbacks, b.Put...)
	m.feedback.next = b.Next
	return nil
}

// forAttempt is what was said of the trace of an attempt.
func (m *memoryFeedback) forAttempt(a *record.Attempt) (out []record.TraceFeedback) {
	for _, f := range m.feedbacks {
		if f.OrgID == a.OrgID && f.WorkspaceID == a.WorkspaceID && f.TraceID == a.TraceID && a.TraceID != "" {
			out = append(out, f)
		}
	}
	return out
}

// averageIn reports whether the average of what was said of the trace of an attempt is in a
// range.
func (m *memoryFeedback) averageIn(a *record.Attempt, r record.FloatRange) bool {
	feedbacks := m.forAttempt(a)
	var sum float64
	for _, f := range feedbacks {
		sum += f.Weighted()
	}
	return len(feedbacks) > 0 && r.Has(sum/float64(len(feedbacks)))
}
