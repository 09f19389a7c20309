package people

import (
	"context"
	"net/http"

	"sluice/internal/control/outbox"
	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/mail"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/sealed"
)

// outbox shows the mails of the organisation: pending, sent and failed ones with the reason.
// They are not a Kind because calls do not write them: they are created with the events that
// they report.
func (k mails) outbox() resource.Resource {
	return resource.Operations{
		{
			Method: http.MethodGet, Path: "/outbox", ID: "listOutbox", Summary: "List the emails of the organisation, newest first", Tag: "Outbox",
			Scopes: []access.Scope{settingsRead}, Query: append(resource.Paging(50, 0),
				resource.Param{Name: "status", Enum: []string{mail.Pending, mail.Sending, mail.Sent, mail.Failed}},
				resource.Param{Name: "template", Enum: mail.Templates()}, resource.Param{Name: "search", Doc: "part of the template's name", MaxLength: 255}),
			Response: resource.ListOf[mailView]{}, Run: listOutbox,
		},
		{
			Method: http.MethodGet, Path: "/outbox/{id}", ID: "getOutbox", Summary: "Get one email", Tag: "Outbox",
			Params: []resource.Param{{Name: "id", Format: "uuid"}}, Scopes: []access.Scope{settingsRead}, Response: mailView{}, Run: getOutbox,
		},
	}
}

// mailView is a mail as clients see it.
type mailView struct {
	Object    string            `json:"object" enum:"mail"`
	ID        string            `json:"id" format:"uuid"`
	Template  string            `json:"template" doc:"Template, for example apikey-rotated"`
	To        []string          `json:"to" nullable:"false"`
	Vars      map[string]string `json:"vars" doc:"Variables of the email, with *** for links and codes"`
	Status    string            `json:"status" enum:"pending,sending,sent,failed"`
	Tries     int               `json:"tries" doc:"Number of delivery attempts to the mail server"`
	NextTryAt *resource.Stamp   `json:"next_try_at" nullable:"true"`
	Error     *string           `json:"error" nullable:"true" doc:"Message of the mail server at the last attempt"`
	CreatedAt resource.Stamp    `json:"created_at"`
	UpdatedAt resource.Stamp    `json:"last_updated_at"`
	SentAt    *resource.Stamp   `json:"sent_at" nullable:"true"`
}

func viewMail(r *resource.Row[mail.Message]) mailView {
	m := r.Value
	return mailView{
		Object: "mail", ID: r.ID, Template: m.Template, To: m.To, Vars: m.Shown(sealed.Mask), Status: r.Status, Tries: m.Tries,
		NextTryAt: resource.StampOf(m.Next), Error: jsonfield.OrNull(m.Error), CreatedAt: resource.Stamp(r.Created), UpdatedAt: resource.Stamp(r.Updated), SentAt: resource.StampOf(m.SentAt),
	}
}

func listOutbox(ctx context.Context, c *resource.Call) (any, error) {
	q := resource.Query{Kind: mail.Kind, OrgID: c.OrgID, Newest: true}
	if v := c.Query("status"); v != "" {
		q.Statuses = []string{v}
	}
	if v := c.Query("template"); v != "" {
		q.Index = []resource.IndexEntry{{Name: outbox.TemplateEntry, Value: v}}
	}
	q.Search = c.Query("search")
	return listed(ctx, c, q, peoplePage, viewMail)
}

func getOutbox(ctx context.Context, c *resource.Call) (any, error) {
	r, err := findInCallerOrg[mail.Message](ctx, c, mail.Kind, "id", "the email does not exist")
	if err != nil {
		return nil, err
	}
	return viewMail(r), nil
}
