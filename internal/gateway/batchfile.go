package gateway

import (
	"sluice/internal/dialect"
	"sluice/internal/dialect/uploads"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// fileAllowed rejects the upload of a batch file if a line names a model that the account does
// not allow: {"body":{"model":"…"}}. It checks all members with a duplicate name. A batch file
// with an invalid line is rejected. Files with another purpose are checked too, as far as they
// have such lines, so that another purpose does not bypass the check.
func fileAllowed(a *attempt) error {
	if a.account == nil || !a.account.Restricted() || a.x.match.Endpoint != llm.UploadFile {
		return nil
	}
	u, err := uploads.Read(&dialect.Request{Form: a.x.form})
	if err != nil {
		return err
	}
	err = uploads.EachLine(u.Content().Open(), func(n int, line []byte) error {
		if !jsonedit.Valid(line) {
			if u.Purpose == "batch" {
				return fault.Newf(fault.InvalidParameter, "line %d of the file is not a JSON object", n).WithParam("file")
			}
			return nil
		}
		if model, ok := firstDisallowedInBody(a.account, line, "body"); !ok {
			return fault.Newf(fault.ModelNotAllowed, "line %d of the file uses the model %q, which the provider @%s does not allow", n, clip(model), a.account.Slug).WithParam("file")
		}
		return nil
	})
	if u.Purpose != "batch" && fault.Has(err, fault.TooLarge) { // a line this long is not one of a batch
		return nil
	}
	return err
}
