//! What `tuner` and `perflog` write as JSON is what their schemas say: every key known, every
//! required key there, every value of its type.

use std::process::Command;

use rstest::rstest;
use serde_json::Value;

const OLD: &str = "allreduce,0,1023,tree,ll,4,-1,-1\nallreduce,0,4095,ring,ll,-1,2,16,1,0\n";
const NEW: &str =
    "\u{feff}allreduce,512,2047,ring,simple,8,2,16\nallreduce,0,1023,tree,ll,4,-1,-1\n";
const LOG: &str = "# nThread 1 nGpus 1 minBytes 1024 maxBytes 1024 step: 1048576(bytes) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#                                                       out-of-place                       in-place
#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error
        1024           256     float     sum    10.24    0.10    0.18    nan    10.24    0.10    0.18  1e-07
        2048           512     float     sum    10.24    0.10
# Out of bounds values : 2 FAILED
# Avg bus bandwidth    : 0.175
";
const QUESTION: [&str; 8] =
    ["--collective", "allreduce", "--bytes", "600", "--nodes", "2", "--ranks", "16"];

/// Where `value` is not what `schema` says.
fn misfit(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let list = |key: &str| schema[key].as_array().cloned().unwrap_or_default();
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"))
        && let Some(wrong) = misfit(root, &root["$defs"][name], value, at)
    {
        return Some(wrong);
    }
    for choices in [list("oneOf"), list("anyOf")] {
        let wrong: Vec<_> = choices.iter().map(|one| misfit(root, one, value, at)).collect();
        if !wrong.is_empty() && wrong.iter().all(Option::is_some) {
            return Some(format!("{at} fits none: {wrong:?}"));
        }
    }
    let allowed = |all: &[Value]| all.is_empty() || all.contains(value);
    let constant: Vec<_> = schema.get("const").cloned().into_iter().collect();
    if !allowed(&list("enum")) || !allowed(&constant) {
        return Some(format!("{at} is {value}"));
    }
    let is = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_u64() || value.is_i64(),
        _ => false,
    };
    let typed = match &schema["type"] {
        Value::Null => true,
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    if !typed {
        return Some(format!("{at} is {value}, not {}", schema["type"]));
    }
    if let (Some(known), Some(object)) = (schema["properties"].as_object(), value.as_object()) {
        if let Some(missing) =
            list("required").iter().find(|key| !object.contains_key(key.as_str().unwrap()))
        {
            return Some(format!("{at} lacks {missing}"));
        }
        for (key, inner) in object {
            let Some(schema) = known.get(key) else {
                return Some(format!("{at}.{key} is not in the schema"));
            };
            if let Some(wrong) = misfit(root, schema, inner, &format!("{at}.{key}")) {
                return Some(wrong);
            }
        }
    }
    let items = schema.get("items");
    value.as_array().into_iter().flatten().enumerate().find_map(|(index, inner)| {
        let first = list("prefixItems");
        misfit(root, first.get(index).or(items)?, inner, &format!("{at}[{index}]"))
    })
}

#[rstest]
#[case::lint("tuner-lint", &["tuner", "lint", "old.csv", "new.csv", "--fix", "--format", "json"])]
#[case::explain("tuner-explain", &["tuner", "explain", "old.csv", "--pipe-ops", "2", "--format", "json"])]
#[case::diff("tuner-diff", &["tuner", "diff", "old.csv", "new.csv", "--gate", "0..600", "--format", "json"])]
#[case::probe("tuner-probe", &["tuner", "probe", "old.csv", "--format", "json"])]
#[case::plan("tuner-plan", &["tuner", "plan", "old.csv", "new.csv", "--rounds", "1", "--format", "json"])]
#[case::proof("tuner-proof", &["tuner", "prove", "log.txt", "--file", "old.csv", "--format", "json"])]
#[case::perflog("perflog", &["perflog", "log.txt", "old.csv", "--format", "json"])]
fn the_json_of_a_verb_fits_its_schema(#[case] schema: &str, #[case] verb: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("old.csv", OLD), ("new.csv", NEW), ("log.txt", LOG)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let run = |arguments: &[&str]| -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rankcheck"));
        let told = command.args(arguments).current_dir(folder.path()).output().unwrap();
        let complaint = String::from_utf8_lossy(&told.stderr).into_owned();
        serde_json::from_slice(&told.stdout).unwrap_or_else(|error| panic!("{error}: {complaint}"))
    };
    let asks = matches!(verb[1], "explain" | "prove");
    let question = if asks { QUESTION.as_slice() } else { &[] };
    let dialect = if verb[0] == "tuner" { ["--dialect", "nccl-example"].as_slice() } else { &[] };
    let written = run(&[verb, question, dialect].concat());
    let schema = run(&["schema", schema]);
    assert_eq!(misfit(&schema, &schema, &written, "document"), None);
    // The check itself: a key more, and one less, are told.
    let mut more = written.clone();
    more["unheard_of"] = Value::Null;
    assert!(misfit(&schema, &schema, &more, "document").unwrap().contains("unheard_of"));
    let mut less = written;
    less.as_object_mut().unwrap().remove("schema");
    assert!(misfit(&schema, &schema, &less, "document").unwrap().contains("lacks"));
}
