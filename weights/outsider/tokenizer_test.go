package outsider

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
)

// templates are chat templates with what published ones use of Jinja: namespaces, macros, filters, tests, slices, loop
// variables, whitespace control, braces in strings, comments, and Hugging Face's own tags.
var templates = []string{
	"{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' " +
		"+ '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
	`{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}
{%- endif %}
{#- The first message may be the system's. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}{%- set messages = messages[1:] %}
{%- else %}{%- set system_message = "" %}{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim
            + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}{{- raise_exception("one call at a time") }}{%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {%- for arg_name, arg_val in tool_call.arguments | items %}
            {{- arg_name + '="' + arg_val + '"' }}{%- if not loop.last %}{{- ", " }}{%- endif %}
        {%- endfor %}
        {{- '{"name": "' + tool_call.name + '", "parameters": ' }}{{- tool_call.arguments | tojson }}{{- "}" }}
    {%- endif %}
{%- endfor %}`,
	`{%- macro render(item, sep=', ') -%}
    {%- if item is mapping %}{{ item | tojson(indent=4) }}{%- elif item is iterable and item is not string -%}
        {{ item | map('string') | join(sep) }}
    {%- else %}{{ item | string }}{%- endif -%}
{%- endmacro -%}
{%- set ns = namespace(is_first=false, last_user=-1, index=messages|length - 1) %}
{%- for m in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.last_user < 0 and m.role == "user" and not (m.content is string and
           m.content.startswith('<tool_response>')) %}{%- set ns.last_user = index %}{%- endif %}
{%- endfor %}
{%- if tools %}
    {{- "<tools>" }}{% for tool in tools %}{{- "\n" }}{{- tool | tojson }}{% endfor %}
    {{- "\n</tools>\n<tool_call>\n{\"name\": <function-name>, \"arguments\": {\"x\": <json>}}\n</tool_call>" }}
{%- endif %}
{%- for message in messages %}
    {%- set content = message.content if message.content is string else '' %}
    {%- if message.role == "assistant" and '</think>' in content %}
        {%- set content = content.split('</think>')[-1].lstrip('\n') %}
    {%- endif %}
    {{- '<|' ~ message.role ~ '|>' ~ content ~ ('' if loop.last else '\n') }}
    {%- for call in (message.tool_calls or []) if call.function %}{{ render(call.function) }}{%- endfor %}
{%- endfor %}
{%- if add_generation_prompt and enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>' }}
{%- endif %}`,
	`{%- set loop_messages = messages | selectattr("role", "ne", "system") | list -%}
{%- for message in loop_messages -%}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}{{ raise_exception("roles must alternate") }}
{%- endif -%}
{%- if message['role'] == 'assistant' -%}{% generation %}{{ message['content'] + eos_token }}{% endgeneration %}
{%- else -%}{{ "[INST] " + message["content"] + " [/INST]" }}{%- if loop.index > 64 %}{% break %}{% endif -%}
{%- endif -%}
{%- endfor -%}`,
	`{%- for message in messages -%}
{%- if message.content is iterable and message.content is not string -%}
{%- for item in message.content -%}
{%- if item.type == 'image' or item['image_url'] is defined -%}<image>{%- else -%}{{ item['text'] | trim }}{%- endif -%}
{%- endfor -%}
{%- else -%}{%- filter trim -%}{{ message.content }}{%- endfilter -%}{%- endif -%}
{% raw %}{{not a variable}}{% endraw %}
{%- endfor -%}`,
}

// speak gives the folder a tokenizer of n ids, of which the last few are special, in one of the ways of publishing it.
func (b *build) speak(style string, n int) (bos, eos int) {
	b.tokens = n
	special := []string{"<s>", "</s>", "<|im_start|>", "<|im_end|>", "<pad>", "<|fim|>"}
	first := n - len(special)
	bos, eos = first, first+1
	token := func(i int) string {
		if i >= first {
			return special[i-first]
		}
		return fmt.Sprintf("t%x", i)
	}
	decoder, added := object{}, []any{}
	for i := first; i < n; i++ {
		o := object{
			"content": token(i), "lstrip": false, "normalized": false, "rstrip": false, "single_word": false, "special": true,
		}
		decoder[fmt.Sprint(i)] = o
		a := deep(o).(object)
		a["id"] = i
		added = append(added, a)
	}
	var chat any = pick(b.r, templates...)
	if b.r.IntN(6) == 0 {
		chat = []any{
			object{"name": "default", "template": templates[0]}, object{"name": "tool_use", "template": templates[2]},
		}
	}
	config := object{
		"add_bos_token": true, "added_tokens_decoder": decoder, "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>",
		"clean_up_tokenization_spaces": false, "tokenizer_class": "PreTrainedTokenizerFast",
		"model_max_length": pick[any](b.r, 131072, 1000000000000000019884624838656.0),
	}
	if chat, ok := chat.(string); ok && b.r.IntN(3) == 0 {
		b.files["chat_template.jinja"] = []byte(chat)
	} else {
		config["chat_template"] = chat
	}
	switch style {
	case "tiktoken":
		var lines []byte
		for i := range first {
			lines = fmt.Appendf(lines, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(token(i))), i)
		}
		b.files["tiktoken.model"] = lines
		config["tokenizer_class"] = "TikTokenTokenizer"
	case "sentencepiece":
		var proto []byte
		for i := range n { // field 1 of ModelProto, repeated: {1: piece, 2: score, 3: type}
			p := append([]byte{0x0a, byte(len(token(i)))}, token(i)...)
			p = binary.LittleEndian.AppendUint32(append(p, 0x15), math.Float32bits(float32(-i)))
			proto = append(append(proto, 0x0a, byte(len(p))), p...)
		}
		b.files["tokenizer.model"] = proto
		config["tokenizer_class"] = "LlamaTokenizer"
	default:
		vocab, merges := object{}, []any{}
		for i := range first {
			vocab[token(i)] = i
		}
		b.files["tokenizer.json"] = encoded(object{
			"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added, "normalizer": nil,
			"pre_tokenizer":  object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
			"post_processor": nil, "decoder": object{"type": "ByteLevel"},
			"model": object{
				"type": "BPE", "dropout": nil, "unk_token": nil, "fuse_unk": false, "byte_fallback": false,
				"ignore_merges": true, "vocab": vocab, "merges": merges,
			},
		})
	}
	b.files["tokenizer_config.json"] = encoded(config)
	b.files["special_tokens_map.json"] = encoded(object{"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"})
	b.files["generation_config.json"] = encoded(object{
		"bos_token_id": bos, "eos_token_id": []any{eos, first + 3}, "pad_token_id": first + 4, "do_sample": true,
		"temperature": 0.6, "top_p": 0.95, "transformers_version": "4.57.1",
	})
	return bos, eos
}
