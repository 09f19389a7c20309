package app

import (
	"sluice/internal/app/options"
	"sluice/internal/control"
	"sluice/internal/control/jobs"
	"sluice/internal/domain/mail"
	"sluice/internal/ops/smtp"
)

// buildWorker creates the worker that runs the jobs of the administration, on this node or
// another. parts are those of the administration.
func (a *App) buildWorker(parts control.Parts) (err error) {
	if parts.Mail.Templates, err = mail.NewTemplateSet(a.set.Mail.Templates, options.Brand(a.set.Mail)); err != nil {
		return err
	}
	if a.set.Mail.Enabled {
		sender, err := smtp.New(options.SMTP(a.set.Mail))
		if err != nil {
			return err
		}
		parts.Mail.Sender = sender
	}
	metrics := jobs.NewMetrics()
	a.metrics.Register(metrics.Collectors()...)
	a.worker = jobs.New(a.store, a.clock, a.log, metrics, control.Jobs(parts)...)
	return nil
}
