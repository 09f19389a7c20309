package doctor

import "context"

// Service checks a service of the log store through a function of its client.
type Service struct {
	Subject string // "analytics store"
	Unused  string // what to report for a service that is not used; Try is then not called
	// Try uses the service as a gateway would, and returns what works.
	Try  func(ctx context.Context) (detail string, err error)
	Hint func(err error) string // what to do about an error of Try
}

// Run implements Check.
func (c Service) Run(ctx context.Context) []Finding {
	f := Finding{Subject: c.Subject, Detail: c.Unused}
	if c.Unused == "" {
		if f.Detail, f.Err = c.Try(ctx); f.Err != nil {
			f.Hint = c.Hint(f.Err)
		}
	}
	return []Finding{f}
}
