//! Objects of a run: each is built once, by whoever needs it first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use kernels::{
    Build, BuildError, Cache, Code, DeviceName, Kernel, MissingCode, Object, Recipe, Toolchain,
};
use scenario::Case;

/// A place for one object.
type Slot = Arc<OnceLock<Result<Object, BuildError>>>;

/// Builds objects.
#[derive(Debug)]
pub struct Builder {
    cache: Cache,
    toolchain: Arc<dyn Toolchain>,
    objects: Mutex<BTreeMap<String, Slot>>,
    compiled: AtomicUsize,
}

impl Builder {
    /// A builder with this cache and toolchain.
    pub fn new(cache: Cache, toolchain: Arc<dyn Toolchain>) -> Builder {
        Builder { cache, toolchain, objects: Mutex::default(), compiled: AtomicUsize::new(0) }
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
            let object = recipe.make(&self.cache, &*self.toolchain)?;
            self.compiled.fetch_add(usize::from(object.fresh), Ordering::Relaxed);
            Ok(object)
        })
        .clone()
    }

    /// What is missing to run a kernel of given objects on this builder's architecture; `None`
    /// where nothing is, and for kernels that are compiled.
    pub fn missing_code(&self, kernel: &Kernel) -> Option<MissingCode> {
        let Code::Objects(objects) = &kernel.code else { return None };
        objects.for_architecture(&self.toolchain.architecture()?).err()
    }

    /// The build that a case needs: the one that reports accesses (`observed`) where the device has one.
    pub fn build(&self, observed: bool) -> Build {
        match self.device() {
            DeviceName::Cpu if observed => Build::Observed,
            DeviceName::Cpu => Build::Fast,
            gpu => Build::Gpu(gpu),
        }
    }

    /// How many were compiled rather than found.
    pub fn compiled(&self) -> usize {
        self.compiled.load(Ordering::Relaxed)
    }

    /// Where objects are kept.
    pub fn folder(&self) -> &std::path::Path {
        self.cache.folder()
    }

    /// The device that it builds for.
    pub fn device(&self) -> DeviceName {
        self.toolchain.device()
    }
}
