package hyperbolic

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	to := &dialect.Target{Model: "SDXL1.0-base"}
	dialecttest.Requests(t, draw{}, to, []dialecttest.RequestCase{
		{Name: "plain", Request: dialecttest.JSON(`{"model":"SDXL1.0-base","prompt":"a fox","backend":"auto"}`), Want: `{"model_name":"SDXL1.0-base","prompt":"a fox","backend":"auto"}`},
		{Name: "size", Request: dialecttest.JSON(`{"prompt":"a fox","size":"512x768","response_format":"url"}`), Want: `{"prompt":"a fox","model_name":"SDXL1.0-base","width":512,"height":768}`, Dropped: []string{"response_format"}},
		{Name: "base64", Request: dialecttest.JSON(`{"model":"SDXL1.0-base","prompt":"a fox","size":"auto","response_format":"b64_json"}`), Want: `{"model_name":"SDXL1.0-base","prompt":"a fox"}`},
		{Name: "both names", Request: dialecttest.JSON(`{"model_name":"other","model":"alias","prompt":"a fox"}`), Want: `{"model_name":"SDXL1.0-base","prompt":"a fox"}`},
		{Name: "no prompt", Request: dialecttest.JSON(`{"model":"SDXL1.0-base"}`), Param: "prompt"},
		{Name: "no size", Request: dialecttest.JSON(`{"prompt":"a","size":[]}`), Param: "size"},
	})
	dialecttest.Responses(t, draw{}, to, []dialecttest.ResponseCase{
		{Name: "one", Body: `{"images":[{"index":0,"image":"QQ==","random_seed":7}],"inference_time":2.3}`, Want: `{"created":1795176000,"data":[{"b64_json":"QQ==","seed":7}]}`},
		{Name: "none", Body: `{"images":[]}`},
		{Name: "no JSON", Body: `x`},
	})
}
