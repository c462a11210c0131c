//! The one thing in GPU sources that no macro can express on a CPU: `extern __shared__ T name[];`.

/// Rewrites every declaration of dynamic block-shared memory, line for line.
///
/// `extern __shared__ float tile[];` becomes `float* tile = (float*)rc_dynamic_shared();` in a
/// function, and an object that converts to the pointer at file scope.
pub(super) fn dynamic_shared(source: &str) -> String {
    let mut depth = 0i32;
    let mut output = String::with_capacity(source.len());
    for line in source.split_inclusive('\n') {
        match declaration(line) {
            Some((before, element, name, after)) => {
                let element = element.trim();
                output += before;
                if depth > 0 {
                    output += &format!("{element}* {name} = ({element}*)rc_dynamic_shared();");
                } else {
                    output += &format!("static rc_dynamic_shared_array<{element}> {name};");
                }
                output += after;
            }
            None => output += line,
        }
        depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
        if line.trim_start().starts_with("extern \"C\"") && line.trim_end().ends_with('{') {
            depth -= 1;
        }
        if line.trim_start().starts_with("namespace") && line.trim_end().ends_with('{') {
            depth -= 1;
        }
    }
    output
}

/// Splits `.. extern __shared__ ELEMENT NAME[]; ..`.
fn declaration(line: &str) -> Option<(&str, String, &str, &str)> {
    let start = line.find("extern")?;
    let rest = line[start + "extern".len()..].trim_start().strip_prefix("__shared__")?;
    let end = rest.find(';')?;
    let (declared, after) = (&rest[..end], &rest[end + 1..]);
    let declared = declared.trim_end().strip_suffix(']')?.trim_end().strip_suffix('[')?.trim_end();
    let name_start = declared.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))? + 1;
    let (element, name) = declared.split_at(name_start);
    let element = without_alignment(element);
    (!name.is_empty() && !element.trim().is_empty()).then_some((
        &line[..start],
        element,
        name,
        after,
    ))
}

/// Drops `__align__(16)` and `alignas(16)`: the buffer is aligned to 256 bytes anyway.
fn without_alignment(element: &str) -> String {
    let mut text = element.to_owned();
    for word in ["__align__", "alignas"] {
        if let Some(start) = text.find(word)
            && let Some(length) = text[start..].find(')')
        {
            text.replace_range(start..=start + length, "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(
        "void f() {\n  extern __shared__ float tile[];\n}\n",
        "void f() {\n  float* tile = (float*)rc_dynamic_shared();\n}\n"
    )]
    #[case(
        "extern __shared__ __align__(16) unsigned char bytes[]; // all\n",
        "static rc_dynamic_shared_array<unsigned char> bytes; // all\n"
    )]
    #[case(
        "namespace a {\nextern  __shared__ alignas(16) T x [ ] ;\n}\n",
        "namespace a {\nstatic rc_dynamic_shared_array<T> x;\n}\n"
    )]
    #[case("__shared__ int x[4];\n", "__shared__ int x[4];\n")]
    #[case("extern int y[];\n", "extern int y[];\n")]
    fn rewrites(#[case] source: &str, #[case] expected: &str) {
        assert_eq!(dynamic_shared(source), expected);
    }
}
