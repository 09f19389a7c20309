package modellist_test

import (
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/gateway/modellist"
	"sluice/internal/kernel/fault"
	"sluice/internal/provider"
)

// accounts are the saved providers of one workspace, by slug.
type accounts map[string]*credential.Account

func (d *accounts) Accounts(string) (list []*credential.Account) {
	for _, a := range *d {
		list = append(list, a)
	}
	return list
}

func (d *accounts) FindAccount(_, slug string) *credential.Account { return (*d)[slug] }

// priceList has one model of OpenAI.
type priceList struct{}

func (priceList) Names(provider string, _ time.Time) []string {
	if provider == "openai" {
		return []string{"gpt-4o"}
	}
	return nil
}

func newLister(t *testing.T) *modellist.Lister {
	t.Helper()
	specs, err := provider.Load()
	if err != nil {
		t.Fatal(err)
	}
	return modellist.NewLister(specs, priceList{}, nil)
}

func request() *modellist.Request {
	return &modellist.Request{Workspace: "w", Time: time.Unix(1, 0), Directory: &accounts{
		"main": {Slug: "main", RecordID: "1", Spec: "openai", Status: "active", AllModels: true, Models: []credential.Model{{Slug: "saved", Enabled: true}, {Slug: "off"}}},
	}}
}

func TestLister_ListsSavedAndPricedModels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*modellist.Request)
		want   string
	}{
		"all":                      {func(*modellist.Request) {}, `{"data":[{"id":"@main/saved","object":"model","created":0,"owned_by":"openai","provider":"@main"},{"id":"@main/gpt-4o","object":"model","created":0,"owned_by":"openai","provider":"@main"}],"object":"list"}`},
		"another provider named":   {func(r *modellist.Request) { r.Named = []string{"2"} }, `{"data":[],"object":"list"}`},
		"in Anthropic's format":    {func(r *modellist.Request) { r.Anthropic, r.Named = true, []string{"none"} }, `{"data":[],"has_more":false,"first_id":null,"last_id":null}`},
		"provider is not active":   {func(r *modellist.Request) { r.Directory.FindAccount("w", "main").Status = "revoked" }, `{"data":[],"object":"list"}`},
		"not all models permitted": {func(r *modellist.Request) { r.Directory.FindAccount("w", "main").AllModels = false }, `{"data":[{"id":"@main/saved","object":"model","created":0,"owned_by":"openai","provider":"@main"}],"object":"list"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request()
			c.change(r)
			got, err := newLister(t).List(t.Context(), r)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestLister_FindsModelsThatCanBeCalled(t *testing.T) {
	t.Parallel()
	l := newLister(t)
	for id, listed := range map[string]bool{"@main%2Fsaved": true, "@main/gpt-4o": true, "@main/gpt-6": true, "@main/off": false, "@other/gpt-4o": false, "gpt-4o": false} {
		got, err := l.Find(request(), id)
		if listed != (err == nil) || !listed && !fault.Has(err, fault.NotFound) || listed && !strings.Contains(string(got), `"object":"model"`) {
			t.Errorf("%s: got %s %v, want it found: %v", id, got, err, listed)
		}
	}
	if _, err := l.Find(request(), "%zz"); !fault.Has(err, fault.InvalidRequest) {
		t.Errorf("got %v, want an invalid request", err)
	}
}
