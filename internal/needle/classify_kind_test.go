package needle_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-suite/assay/internal/needle"
)

var (
	uuidTruth = needle.Truth{
		Kind: needle.UUID, Name: "Lisbon", Code: "3f2c11aa-7d40-4b1e-9c55-0d8e6a71b2f4",
		Others: []string{"a1b2c3d4-0000-4fff-8abc-1234567890ab"},
		Haystack: `{"id":"99999999-aaaa-4bbb-8ccc-dddddddddddd","tool":"read"} The rays are refracted by the prism in the ` +
			`dark chamber.`,
	}
	pathTruth = needle.Truth{
		Kind: needle.Path, Name: "Lisbon", Code: "/srv/amber/kettle-42/harbor_lemon.yaml",
		Others:   []string{"/opt/copper/ribbon-17/silver_raven.json"},
		Haystack: "open /usr/lib/engine/main.go failed. The rays are refracted by the prism in the dark chamber.",
	}
	phraseTruth = needle.Truth{
		Kind: needle.Phrase, Name: "Lisbon", Code: "amber kettle raven", Others: []string{"copper ribbon salmon"},
		Haystack: "The rays are refracted by the prism in the dark chamber. A silver mirror hung there.",
	}
	severalTruth = needle.Truth{
		Kind: needle.Several, Name: "Lisbon", Code: "48213", Codes: []string{"48213", "77104", "90527"},
		Haystack: "The rays of 34386 are refracted by the prism in the dark chamber.",
	}
	nthTruth = needle.Truth{
		Kind: needle.Nth, Name: "Lisbon", Code: "48213", Others: []string{"77104", "90527"},
		Haystack: "The rays are refracted by the prism in the dark chamber.",
	}
)

func TestClassifyKinds(t *testing.T) {
	long := "length"
	for _, c := range []struct {
		truth        needle.Truth
		text, finish string
		want         needle.Class
	}{
		{uuidTruth, "3f2c11aa-7d40-4b1e-9c55-0d8e6a71b2f4", "", needle.Exact},
		{uuidTruth, "The record id is **3F2C11AA-7D40-4B1E-9C55-0D8E6A71B2F4**.", "", needle.Exact},
		{uuidTruth, "{3f2c11aa7d404b1e9c550d8e6a71b2f4}", "", needle.Exact},
		{uuidTruth, "3f2c11aa‑7d40‑4b1e‑9c55‑0d8e6a71b2f4", "", needle.Exact}, // typographic hyphens
		{
			uuidTruth, "<think>it is a1b2c3d4-0000-4fff-8abc-1234567890ab?</think>3f2c11aa-7d40-4b1e-9c55-0d8e6a71b2f4", "",
			needle.Exact,
		},
		{uuidTruth, "3f2c11aa-7d40-4b1e-9c55-0d8e6a71b2f5", "", needle.NearMiss},
		{uuidTruth, "3f2c11aa-7d40-9c55-0d8e6a71b2f4", "", needle.NearMiss}, // a group lost
		{uuidTruth, "3f2c11aa-7d40-4b1e-9c55-0d8e6a71b2f4 or 00000000-1111-4222-8333-444444444444", "", needle.NearMiss},
		{uuidTruth, "a1b2c3d4-0000-4fff-8abc-1234567890ab", "", needle.OtherCode},
		{uuidTruth, "99999999-aaaa-4bbb-8ccc-dddddddddddd", "", needle.FillerEcho},
		{uuidTruth, "The rays are refracted by the prism", "", needle.FillerEcho},
		{uuidTruth, "c0ffee00-1234-4567-89ab-cdefcdefcdef", "", needle.Invented},
		{uuidTruth, "There is no record id in the text.", "", needle.Denial},
		{uuidTruth, "The record id is 3f2c11aa-7d40-4b", long, needle.CutOff},
		{uuidTruth, "The record id of the Lisbon archive is", long, needle.CutOff},
		{uuidTruth, "3f2c11aa-7d40-4b", "stop", needle.Invented},
		{uuidTruth, " \n", "stop", needle.Empty},
		{uuidTruth, "<think>let me see", long, needle.Budget},
		{uuidTruth, "\ufffd\ufffd\ufffd\ufffd", "", needle.Junk},
		{uuidTruth, "the the the the the the the", "", needle.Junk},

		{pathTruth, "/srv/amber/kettle-42/harbor_lemon.yaml", "", needle.Exact},
		{pathTruth, "It is `/srv/amber/kettle-42/harbor_lemon.yaml`.", "", needle.Exact},
		{pathTruth, `{"path":"\/srv\/amber\/kettle-42\/harbor_lemon.yaml"}`, "", needle.Exact},
		{pathTruth, `/srv/amber/kettle-42/harbor\_lemon.yaml`, "", needle.Exact},
		{pathTruth, "file:///srv/amber/kettle-42/harbor_lemon.yaml.", "", needle.Exact},
		{pathTruth, "srv/amber/kettle-42/harbor_lemon.yaml", "", needle.NearMiss},
		{pathTruth, "/srv/amber/kettle-24/harbor_lemon.yaml", "", needle.NearMiss},
		{pathTruth, "/srv/kettle-42/amber/harbor_lemon.yaml", "", needle.NearMiss},
		{pathTruth, "/srv/amber/kettle-42", "", needle.NearMiss},
		{pathTruth, "/opt/copper/ribbon-17/silver_raven.json", "", needle.OtherCode},
		{pathTruth, "/usr/lib/engine/main.go", "", needle.FillerEcho},
		{pathTruth, "/etc/lisbon/ledger.txt", "", needle.Invented},
		{pathTruth, "No file and/or path is mentioned.", "", needle.Denial},
		{pathTruth, "The file is /srv/amber/kettle-4", long, needle.CutOff},
		{pathTruth, "/srv/amber/kettle-42/harbor_", long, needle.CutOff},

		{phraseTruth, "amber kettle raven", "", needle.Exact},
		{phraseTruth, "The pass phrase is \"Amber Kettle Raven\".", "", needle.Exact},
		{phraseTruth, "amber-kettle-raven", "", needle.Exact},
		{phraseTruth, "amber kettle raven amber kettle raven", "", needle.Exact},
		{phraseTruth, "amber raven kettle", "", needle.NearMiss},
		{phraseTruth, "amber kettle", "stop", needle.NearMiss},
		{phraseTruth, "amber kettle salmon", "", needle.NearMiss},
		{phraseTruth, "amber kettle raven or marble ocean", "", needle.NearMiss},
		{phraseTruth, "copper ribbon salmon", "", needle.OtherCode},
		{phraseTruth, "silver mirror", "", needle.FillerEcho},
		{phraseTruth, "marble ocean planet", "", needle.Invented},
		{phraseTruth, "open sesame", "", needle.Invented},
		{phraseTruth, "The pass phrase is not mentioned.", "", needle.Denial},
		{phraseTruth, "The pass phrase is amber ket", long, needle.CutOff},

		{severalTruth, "48213, 77104, 90527", "", needle.Exact},
		{severalTruth, "1. 48213\n2. 77104\n3. 90527", "", needle.Exact},
		{severalTruth, "Lisbon: 48213, Oslo: 77104 and Lima: 90527.", "", needle.Exact},
		{severalTruth, "77104, 48213, 90527", "", needle.NearMiss},
		{severalTruth, "48213, 77104, 90527, 11223", "", needle.NearMiss},
		{severalTruth, "48213, 77104", "", needle.Partial},
		{severalTruth, "48213, 77104, 90528", "", needle.Partial},
		{severalTruth, "77105", "", needle.NearMiss},
		{severalTruth, "34386", "", needle.FillerEcho},
		{severalTruth, "61999", "", needle.Invented},
		{severalTruth, "I could not find them.", "", needle.Denial},
		{severalTruth, "", "", needle.Empty},
		{severalTruth, "", long, needle.Budget},

		{nthTruth, "48213", "", needle.Exact},
		{nthTruth, "77104", "", needle.OtherCode},
		{nthTruth, "48213, 77104", "", needle.OtherCode},
		{nthTruth, "48231", "", needle.NearMiss},
	} {
		if got := needle.Classify(needle.Answer{Text: c.text, Finish: c.finish}, c.truth); got != c.want {
			t.Errorf("%q: %q (%s) is %q, want %q", c.truth.Kind, c.text, c.finish, got, c.want)
		}
	}
	for _, truth := range []needle.Truth{uuidTruth, pathTruth, phraseTruth, severalTruth, nthTruth} {
		all := truth.Code
		if len(truth.Codes) > 0 {
			all = strings.Join(truth.Codes, " ")
		}
		for _, c := range []struct {
			a    needle.Answer
			want needle.Class
		}{
			{needle.Answer{Unmeasured: true}, needle.Unmeasured},
			{needle.Answer{Text: all, Err: errors.New("reset")}, needle.Failed},
			{needle.Answer{Reasoning: "So it is " + all + "."}, needle.Exact}, // a parser took the answer
			{needle.Answer{Text: all}, needle.Exact},
		} {
			if got := needle.Classify(c.a, truth); got != c.want {
				t.Errorf("%q: %+v is %q, want %q", truth.Kind, c.a, got, c.want)
			}
		}
	}
}

// Every answer has exactly one of the listed classes, whatever it holds.
func FuzzClassifyKinds(f *testing.F) {
	f.Add("3f2c11aa-7d40", "stop")
	f.Add("/srv/amber <think>", "length")
	f.Add("amber 48213 kettle\x00", "")
	f.Fuzz(func(t *testing.T, text, finish string) {
		for _, truth := range []needle.Truth{uuidTruth, pathTruth, phraseTruth, severalTruth, nthTruth} {
			got := needle.Classify(needle.Answer{Text: text, Finish: finish}, truth)
			if !strings.Contains(" exact partial near-miss other-needle filler-echo denial invented empty cut-off junk budget ",
				" "+string(got)+" ") {
				t.Errorf("%q is %q", text, got)
			}
			if hits := needle.Found(needle.Answer{Text: text}, truth); got == needle.Exact && !strings.Contains(text, "<") &&
				len(hits) == 0 {
				t.Errorf("%q is exact and nothing is found", text)
			}
		}
	})
}

func TestFound(t *testing.T) {
	for _, c := range []struct {
		text  string
		truth needle.Truth
		want  []bool
	}{
		{"48213 and 90527", severalTruth, []bool{true, false, true}},
		{"90527, 77104, 48213", severalTruth, []bool{true, true, true}},
		{"none", severalTruth, []bool{false, false, false}},
		{"3F2C11AA-7D40-4B1E-9C55-0D8E6A71B2F4", uuidTruth, []bool{true}},
		{"amber kettle", phraseTruth, []bool{false}},
	} {
		if diff := cmp.Diff(c.want, needle.Found(needle.Answer{Text: c.text}, c.truth)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
	if got := needle.Found(needle.Answer{Text: "48213", Err: errors.New("reset")}, severalTruth); got[0] {
		t.Error("a failed request found a code")
	}
}
