//! Objects of a run: each is built once, by whoever needs it first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use kernels::{Build, BuildError, Cache, Compiler, Object, Recipe};
use scenario::Case;

/// A place for one object.
type Slot = Arc<OnceLock<Result<Object, BuildError>>>;

/// Builds objects.
#[derive(Debug)]
pub struct Builder {
    cache: Cache,
    compiler: Compiler,
    objects: Mutex<BTreeMap<String, Slot>>,
    compiled: AtomicUsize,
}

impl Builder {
    /// A builder with this cache and compiler.
    pub fn new(cache: Cache, compiler: Compiler) -> Builder {
        Builder { cache, compiler, objects: Mutex::default(), compiled: AtomicUsize::new(0) }
    }

    /// The object for a call of a case.
    ///
    /// # Errors
    /// It cannot be built; said again to everybody who asks.
    pub fn object(&self, case: &Case, call: usize, build: Build) -> Result<Object, BuildError> {
        let Case { kernel, problem, .. } = case;
        let group_size = problem.calls[call].group.size();
        let tile = problem.calls[call].tile;
        let recipe = Recipe::new(kernel, case.variant(), problem, tile, group_size, build)?;
        let slot = {
            let mut objects = self.objects.lock().expect("no holder panics");
            objects.entry(recipe.identity()).or_default().clone()
        };
        slot.get_or_init(|| {
            let object = recipe.make(&self.cache, &self.compiler)?;
            self.compiled.fetch_add(usize::from(object.fresh), Ordering::Relaxed);
            Ok(object)
        })
        .clone()
    }

    /// How many were compiled rather than found.
    pub fn compiled(&self) -> usize {
        self.compiled.load(Ordering::Relaxed)
    }

    /// The compiler.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }
}
