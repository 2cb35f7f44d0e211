package checkpoint

import "testing"

// What jinja2 3.1 parses is parsed, what it refuses is refused; the templates and the answers were tried with it.
func TestJinja(t *testing.T) {
	const chat = "{%- for message in messages %}\n{{- '<|im_start|>' + message['role'] + \"\\n\" + message.content }}\n" +
		"{%- if loop.last and add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}{% endfor %}"
	for _, text := range []string{
		chat, "", "plain { text } with braces", "{# {% if #}x", "{% set x = {'a': {'b': 1}} %}{{ {'a': '}}'}['a'] }}",
		"{% set x %}a{% endset %}", "{% raw %}{% if %}{{ {% endraw %}",
		"{%- macro f(a, b=[1, 2]) -%}{{ a }}{%- endmacro %}{{ f(1) }}",
		"{% generation %}{{ x }}{% endgeneration %}", "{% if a %}{% elif b %}{% else %}{% endif %}",
		"{% for a in b %}{% else %}{% endfor %}",
		"{% set ns = namespace(found=false) %}{% for a in b %}{% if not a %}{% continue %}{% endif %}{% endfor %}",
		"{{ 'it''s' }}", "{% call(x) f() %}{% endcall %}", "{% filter upper %}a{% endfilter %}",
	} {
		if why := jinjaError(text); why != "" {
			t.Errorf("%q: %s", text, why)
		}
	}
	for _, text := range []string{
		chat[:len(chat)-12], chat[:60], chat[:40], chat + "{% endif %}",
		"{{ (a }}", "{{ a) }}", "{{ 'a }}", "{% if a %}{% endfor %}",
		"{% iff a %}{% endif %}", "{% for %}x{% endfor %}", "{% if %}x{% endif %}", "{% for a b %}x{% endfor %}",
		"{# comment", "{% else %}", "{% %}", "{% raw %}{{ x }}", "{% set x %}a", "{{ a[b}] }}",
	} {
		if jinjaError(text) == "" {
			t.Errorf("%q: parsed", text)
		}
	}
	for n := range len(chat) { // cut anywhere inside
		if n > 20 && jinjaError(chat[:n]) == "" {
			t.Errorf("cut after %d bytes: parsed", n)
		}
	}
}
