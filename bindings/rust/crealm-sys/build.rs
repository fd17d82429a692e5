//! Finds the library: `CREALM_LIBRARY` is the path of libCRealm.so, else pkg-config knows where `crealm` is, else
//! the linker searches its own folders.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=CREALM_LIBRARY");
    println!("cargo:rustc-link-lib=dylib=CRealm");
    if let Ok(library) = std::env::var("CREALM_LIBRARY") {
        if let Some(folder) = Path::new(&library).parent() {
            println!("cargo:rustc-link-search=native={}", folder.display());
        }
        return;
    }
    let Ok(found) = Command::new("pkg-config").args(["--libs-only-L", "crealm"]).output() else { return };
    for word in String::from_utf8_lossy(&found.stdout).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        }
    }
}
