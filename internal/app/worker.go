package app

import (
	"sluice/internal/admin"
	"sluice/internal/config"
	"sluice/internal/mail"
	"sluice/internal/mail/smtp"
	"sluice/internal/worker"
)

// buildWorker creates the worker that runs the jobs of the administration, on this node or
// another. parts are those of the administration.
func (a *App) buildWorker(parts admin.Parts) (err error) {
	if parts.Templates, err = mail.NewTemplateSet(a.set.Mail.Templates, brandOf(a.set.Mail)); err != nil {
		return err
	}
	if a.set.Mail.Enabled {
		sender, err := smtp.New(smtpSettings(a.set.Mail))
		if err != nil {
			return err
		}
		parts.Mail = sender
	}
	var jobs []worker.Job
	for _, j := range admin.Jobs(parts) {
		jobs = append(jobs, worker.Job(j))
	}
	metrics := worker.NewMetrics()
	a.metrics.Register(metrics.Collectors()...)
	a.worker = worker.New(a.store, a.clock, a.log, metrics, jobs...)
	return nil
}

func smtpSettings(m config.Mail) smtp.Settings {
	return smtp.Settings{Host: m.Host, Port: m.Port, User: m.User, Password: m.Password, From: m.From, Security: m.TLS, CA: m.CA}
}

func brandOf(m config.Mail) mail.Brand {
	return mail.Brand{Company: m.Company, Logo: m.Logo, Support: m.Support, Docs: m.Docs}
}
