//! Scenarios as tests: one test a case, named by its id.
