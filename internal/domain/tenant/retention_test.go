package tenant_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

func days(bodies, rows, metrics int) tenant.Retention {
	optional := func(n int) *int {
		if n == 0 {
			return nil
		}
		return &n
	}
	return tenant.Retention{Bodies: optional(bodies), Rows: optional(rows), Metrics: optional(metrics)}
}

func TestRetentionInForce(t *testing.T) {
	t.Parallel()
	deployment := days(90, 200, 365)
	for name, c := range map[string]struct {
		org, workspace, want tenant.Retention
		closed               bool
	}{
		"nothing set":                  {want: deployment},
		"of the organisation":          {org: days(30, 0, 100), want: days(30, 100, 100)},
		"of the workspace":             {org: days(30, 60, 100), workspace: days(7, 0, 0), want: days(7, 60, 100)},
		"longer than the organisation": {org: days(30, 60, 100), workspace: days(40, 0, 0), want: days(40, 60, 100)},
		"longer than the deployment":   {workspace: days(1000, 1000, 1000), want: deployment},
		"bodies without their rows":    {workspace: days(50, 10, 0), want: days(10, 10, 365)},
		"rows without their figures":   {workspace: days(0, 0, 5), want: days(5, 5, 5)},
		"a closed section":             {org: days(30, 0, 0), workspace: days(7, 7, 7), closed: true, want: days(30, 200, 365)},
	} {
		o := tenant.Organisation{Settings: tenant.Settings{LogRetention: c.org}, Open: access.Overrides{tenant.SectionLogging: !c.closed}}
		got := o.SettingsOf(&tenant.Workspace{Settings: tenant.Settings{LogRetention: c.workspace}}).LogRetention.Capped(deployment)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRetentionBeyondTheDeploymentIsRefused(t *testing.T) {
	t.Parallel()
	maxRetention := days(90, 200, 365)
	for name, c := range map[string]struct {
		set tenant.Retention
		ok  bool
	}{
		"all of it": {maxRetention, true}, "none": {days(0, 0, 0), true}, "bodies": {days(91, 0, 0), false}, "rows": {days(0, 201, 0), false}, "metrics": {days(0, 0, 366), false},
	} {
		if err := c.set.CheckLimit(maxRetention); (err == nil) != c.ok || !c.ok && !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := maxRetention.CheckLimit(tenant.Retention{}); err != nil {
		t.Error(err)
	}
}
