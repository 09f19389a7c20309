package siliconflow

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	to := &dialect.Target{Model: "Kwai-Kolors/Kolors"}
	dialecttest.Requests(t, draw{}, to, []dialecttest.RequestCase{
		{
			Name: "all", Request: dialecttest.JSON(`{"model":"Kwai-Kolors/Kolors","prompt":"an island","size":"1024x1024","n":2,"guidance_scale":7.5,"response_format":"url"}`),
			Want: `{"model":"Kwai-Kolors/Kolors","prompt":"an island","image_size":"1024x1024","batch_size":2,"guidance_scale":7.5}`,
		},
		{Name: "auto", Request: dialecttest.JSON(`{"model":"m","prompt":"an island","size":"auto","response_format":"b64_json"}`), Want: `{"model":"Kwai-Kolors/Kolors","prompt":"an island"}`, Dropped: []string{"response_format"}},
		{Name: "no prompt", Request: dialecttest.JSON(`{"model":"m"}`), Param: "prompt"},
	})
	dialecttest.Responses(t, draw{}, to, []dialecttest.ResponseCase{
		{Name: "two", Body: `{"images":[{"url":"https://e.com/1.png"},{"url":"https://e.com/2.png"}],"timings":{"inference":1.2},"seed":9}`, Want: `{"created":1795176000,"data":[{"url":"https://e.com/1.png","seed":9},{"url":"https://e.com/2.png","seed":9}]}`},
		{Name: "none", Body: `{}`},
		{Name: "no URL", Body: `{"images":[{}]}`},
	})
}
