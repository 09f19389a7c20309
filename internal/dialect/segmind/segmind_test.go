package segmind

import (
	"testing"

	"sluice/internal/dialect"
	"sluice/internal/dialect/dialecttest"
)

func TestDraw(t *testing.T) {
	t.Parallel()
	to := &dialect.Target{Model: "sdxl1.0-txt2img"}
	dialecttest.Requests(t, draw{}, to, []dialecttest.RequestCase{
		{Name: "plain", Request: dialecttest.JSON(`{"model":"sdxl1.0-txt2img","prompt":"a fox"}`), Want: `{"prompt":"a fox","num_inference_steps":20,"base64":true}`},
		{
			Name: "all", Request: dialecttest.JSON(`{"prompt":"a fox","n":2,"size":"768x1024","style":"base","steps":30,"cfg_scale":7.5,"qr_size":512,"user":"u","response_format":"b64_json","quality":"hd"}`),
			Want:    `{"prompt":"a fox","img_width":768,"img_height":1024,"num_inference_steps":30,"samples":2,"style":"base","guidance_scale":7.5,"size":512,"base64":true}`,
			Dropped: []string{"user", "quality"},
		},
		{Name: "no prompt", Request: dialecttest.JSON(`{"n":1}`), Param: "prompt"},
		{Name: "no size", Request: dialecttest.JSON(`{"prompt":"a","size":"big"}`), Param: "size"},
	})
	dialecttest.Responses(t, draw{}, to, []dialecttest.ResponseCase{
		{Name: "one", Body: `{"image":"QQ==","infer_time":2.1}`, Want: `{"created":1795176000,"data":[{"b64_json":"QQ=="}]}`},
		{Name: "two", Body: `{"image":["QQ==","Qg=="]}`, Want: `{"created":1795176000,"data":[{"b64_json":"QQ=="},{"b64_json":"Qg=="}]}`},
		{Name: "none", Body: `{"error":"x"}`},
		{Name: "no JSON", Body: "\xff\xd8"},
		{Name: "numbers", Body: `{"image":[1]}`},
	})
}
