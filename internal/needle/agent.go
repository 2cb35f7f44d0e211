package needle

// agentRules is the grammar of Agent: what fills the context of a coding agent.
var agentRules = map[string][]string{
	"line": {
		`{"type":"function","function":{"name":"{do}_{noun}","description":"{Do} the {adj} {noun} of a {noun} and {do} its ` +
			`{noun}.","parameters":{"type":"object","properties":{"{field}":{"type":"string","description":"{adj} {noun} to ` +
			`{do}"},"{field}_{noun}":{"type":"integer","maximum":{2~9999}}},"required":["{field}"]}}}`,
		`{"name":"{do}_{noun}","input_schema":{"type":"object","properties":{"{field}":{"enum":["{adj}","{adj}",` +
			`"{noun}"]},"{noun}_{field}":{"type":"boolean","default":{bool}}}},"description":"{Do} a {noun}, at most {2~9999} ` +
			`at a time"}`,
		`tool_call {"id":"call_{x12}","name":"{do}_{noun}","arguments":{"{field}":"{path}","limit":{1~9999},` +
			`"pattern":"{noun}.*{adj}"}}`,
		`tool_call {"id":"call_{x12}","name":"{do}_{noun}","arguments":{"{field}":"{adj} ` +
			`{noun}","{noun}":[{1~99},{100~999},{1000~9899}]}}`,
		`tool_result {"call":"call_{x12}","ok":{bool},"{noun}":"{path}","lines":{1~9899},"took_ms":{1~9899}}`,
		`tool_result {"call":"call_{x12}","error":{"kind":"{adj}_{noun}","message":"cannot {do} {path}: {noun} is ` +
			`{adj}","retry_in":{1~999}}}`,
		`{date}T{time}.{001~999}Z {level} {module}.{module}: {done} {path} in {1~9899} ms, worker {1~64}`,
		`{date}T{time}.{001~999}Z {level} {module}: {noun} {x8} {done} by {module}, {1~999} {noun}s left, attempt {1~9}`,
		`{date} {time} [{level}] {module}[{100~9899}]: {adj} {noun} "{field}={x6}" {done} after {1~999} s`,
		`$ {tool} --{field}={adj} --{noun} {2~999} {path} | grep -n "{noun} {adj}"`,
		`$ {tool} {do} {path} {path} > /tmp/{noun}.{x6}.log 2>&1; echo $?`,
		`-rw-r--r-- {1~9} app staff {100~9899} {mon} {1~28} {time} {path}`,
		`{"id":"{x8}-{x4}-4{x3}-a{x3}-{x12}","{field}":"{adj}","{noun}":{"{field}":{0~9899},"{noun}":"{adj}-{noun}"},` +
			`"ok":{bool}}`,
		`{"ts":{1700000000~1790000000},"{field}":"{module}/{noun}","tags":["{adj}","{noun}","{module}"],` +
			`"{noun}_count":{0~9899}}`,
		`{path}:{1~9899}:{1~99}: {level}: {adj} {noun} "{field}" does not {do} {module}.{noun} ({x6})`,
		`  File "{path}", line {1~9899}, in {do}_{noun}: {noun}.{do}({field}={1~999}, {noun}="{adj}")`,
		`@@ -{1~9899},{1~99} +{1~9899},{1~99} @@ func {do}{Noun}({field} {Noun}) ({Noun}, error) // {adj} {noun}`,
		`assistant: I will {do} the {noun} in {path} first, then {do} {module}.{noun}, since the {field} is {adj}.`,
		`user: the {adj} {noun} in {path} still {done} {1~99} times; {do} it and leave the {noun} of {module} alone.`,
		`{METHOD} /v1/{noun}s/{x8}/{field}?{field}={adj}&limit={1~999} HTTP/1.1 {status} {100~9899} {1~9899}us {module}`,
		`{adj}_{noun}: {{ {field}: {1~9899}, {noun}: "{path}", {field}_{noun}: [{adj}, {adj}, {noun}] }}`,
		`| {module} | {noun} {field} | {1~9899} | {adj} | {path} | {x8} |`,
	},
	"path": {
		"/{root}/{module}/{noun}s/{adj}_{noun}.{ext}",
		"/{root}/{module}/{module}-{1~99}/{noun}.{ext}",
		"src/{module}/{noun}/{do}_{noun}.{ext}",
		"{module}/{adj}-{noun}/{x6}/{noun}_{field}.{ext}",
		"../{module}/{noun}{1~99}/{adj}/{do}.{ext}",
	},
	"date": {"2026-{01~12}-{01~28}"},
	"time": {"{00~23}:{00~59}:{00~59}"},
}

// agentLists are its words.
var agentLists = map[string]string{
	"do": `apply batch bind build cache check clone close compact copy create decode delete diff drain dump edit ` +
		`encode expand export fetch filter flush fork format grep hash import index insert inspect join link list load ` +
		`lock log map merge migrate mount move open pack parse patch ping plan poll prune publish pull push query queue ` +
		`read rebuild rename render replay reset resolve restore retry rotate run save scan schedule seal search select ` +
		`send shard sign sort split start stop stream sync tag test trace trim unlock unpack update upload validate verify ` +
		`walk watch wrap write`,
	"Do": `Apply Batch Bind Build Cache Check Clone Close Compact Copy Create Decode Delete Drain Dump Edit Encode ` +
		`Expand Export Fetch Filter Flush Format Import Index Insert Inspect Join Link List Load Lock Merge Migrate Mount ` +
		`Move Open Pack Parse Patch Plan Poll Prune Publish Query Queue Read Rename Render Replay Resolve Restore Rotate ` +
		`Save Scan Schedule Search Select Send Sign Sort Split Start Stop Stream Sync Trace Trim Update Upload Validate ` +
		`Verify Walk Watch Write`,
	"noun": `adapter agent alias backup batch bitmap blob block branch bucket buffer build bundle cache channel chunk ` +
		`client cluster column commit config container context cookie counter cursor daemon dataset device digest domain ` +
		`driver edge endpoint engine entry event export feature field file filter flag frame gateway graph group handle ` +
		`header heap hook host image index input instance job journal kernel label layer lease limit link lock loop ` +
		`manifest mapping marker merge message metric mirror module monitor mutex node object offset option output package ` +
		`page parser partition patch payload peer pipeline plugin pod pointer policy pool port process profile prompt ` +
		`proxy query queue quota range record region registry release replica report request resource response revision ` +
		`role route rule runtime sample scheduler schema scope script segment selector sensor server session shard signal ` +
		`slot snapshot socket source span stack stage state step storage stream stub summary symbol table tag target task ` +
		`template tenant thread ticket timer token topic trace tree trigger tunnel update upload user vector version view ` +
		`volume watcher window worker workspace wrapper zone`,
	"Noun": `Adapter Batch Blob Block Bucket Buffer Bundle Channel Chunk Client Cluster Column Commit Config Context ` +
		`Cursor Device Digest Driver Edge Endpoint Event Frame Graph Handle Header Image Index Job Journal Kernel Layer ` +
		`Lease Manifest Message Metric Node Object Offset Packet Page Parser Partition Payload Peer Policy Pool Proxy ` +
		`Query Queue Record Region Registry Replica Request Result Route Rule Schema Scope Segment Session Shard Slot ` +
		`Snapshot Socket Span Stream Table Task Thread Ticket Token Topic Trace Tree Vector Version View Volume Worker Zone`,
	"adj": `absent active ambiguous anonymous async atomic binary blank blocked broken busy cached canonical clean ` +
		`closed cold compact corrupt custom dead default deferred deprecated dirty disabled draft duplicate dynamic eager ` +
		`empty encrypted enabled exclusive expired external failed fast final fixed flat foreign fresh frozen full global ` +
		`hidden idle immutable implicit inline inner internal invalid lazy legacy linear literal live local locked loose ` +
		`main malformed manual master merged minimal missing mutable native nested nullable numeric obsolete offline ` +
		`online opaque open optional orphaned outer partial pending persistent pinned plain primary private public queued ` +
		`random raw ready recent recursive remote required rolling root secondary secure shared short signed single sparse ` +
		`stable stale static strict stuck temporary terminal trailing transient truncated trusted unique unknown unsafe ` +
		`unused upstream valid verbose virtual volatile warm weak zero`,
	"field": `account after area author before body branch channel column comment cwd depth digest env format from ` +
		`glob host interval
		key kind lang level limit locale mask max method min mode model name order owner page parent part path pattern ` +
		`phase port
		prefix priority profile ratio reason ref region revision role scope seed shell since size sort stage status ` +
		`suffix tag target
		team term theme time title topic type unit until uri user value weight width`,
	"module": `alloc auth billing blobstore broker builder catalog checkout cli compiler crawler dashboard decoder ` +
		`deploy diffing editor
		exporter fleet gateway geo gitops grid httpd ingest inventory kafka keyring lexer linter logs mailer mesh ` +
		`metrics migrator notifier oauth
		orders parser payroll planner pricing profiler quotas raft ranking relay renderer reports router runner sandbox ` +
		`search shipping
		signer sqlite storage streams syncer telemetry tokenizer tracer uploader vault webhooks workflow`,
	"root": `app build data etc home mnt opt repo runner srv tmp usr var work`,
	"ext": `c cc conf cpp css csv go h html ini java js json jsonl lock log md mod parquet py rb rs sh sql toml ts ` +
		`tsx txt xml yaml yml`,
	"level": `DEBUG INFO INFO WARN ERROR NOTICE`,
	"done": `applied blocked cached closed copied created deleted dropped exported failed fetched flushed hashed ` +
		`indexed loaded locked merged moved opened parsed patched pruned queued read rejected renamed replayed reset ` +
		`resolved restarted retried rotated saved scanned sent signed skipped sorted split started stopped stored synced ` +
		`timed_out truncated updated uploaded verified written`,
	"tool": `awk bazel cargo cat cmake curl docker find git go gradle helm jq kubectl make mvn node npm pip psql ` +
		`pytest python3 rg rsync ruff sed sqlite3 tar terraform tox uv`,
	"mon":    `Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec`,
	"bool":   `true false`,
	"METHOD": `DELETE GET HEAD PATCH POST PUT`,
	"status": `200 201 202 204 301 304 400 401 403 404 409 412 429 500 502 503 504`,
}
