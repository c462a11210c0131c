// Included by the build scripts of `ranks` and `guest-protocol`: a hash of the sources whose types travel
// in messages, so that two builds that could misread each other do not take each other for the same.

/// Sets `RANKCHECK_PROTOCOL` to the FNV-1a hash of every Rust source in these folders.
fn hash_protocol(folders: &[&str]) {
    let mut files = Vec::new();
    let mut open: Vec<std::path::PathBuf> = folders.iter().map(std::path::PathBuf::from).collect();
    while let Some(path) = open.pop() {
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a folder of the workspace");
            open.extend(entries.map(|entry| entry.expect("a readable folder").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        for byte in std::fs::read(&file).expect("a readable source") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=RANKCHECK_PROTOCOL={hash}");
}
