package app

import (
	"sluice/internal/admin"
	"sluice/internal/app/options"
	"sluice/internal/mail"
	"sluice/internal/mail/smtp"
	"sluice/internal/worker"
)

// buildWorker creates the worker that runs the jobs of the administration, on this node or
// another. parts are those of the administration.
func (a *App) buildWorker(parts admin.Parts) (err error) {
	if parts.Templates, err = mail.NewTemplateSet(a.set.Mail.Templates, options.Brand(a.set.Mail)); err != nil {
		return err
	}
	if a.set.Mail.Enabled {
		sender, err := smtp.New(options.SMTP(a.set.Mail))
		if err != nil {
			return err
		}
		parts.Mail = sender
	}
	metrics := worker.NewMetrics()
	a.metrics.Register(metrics.Collectors()...)
	a.worker = worker.New(a.store, a.clock, a.log, metrics, admin.Jobs(parts)...)
	return nil
}
