//! The table of litmus tests: shape of the launch, and what must come out.

/// What a test must give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Nothing wrong under any schedule.
    Clean,
    /// A race on plain data.
    Race,
    /// Atomics whose scopes do not take in each other.
    Scope,
    /// Both.
    RaceAndScope,
    /// Atomics of different sizes on the same bytes.
    MixedSize,
    /// A packet overwritten before it was read.
    Overwrite,
    /// Nobody can go on.
    Deadlock,
}

/// A litmus test.
#[derive(Debug, Clone, Copy)]
pub struct Litmus {
    /// As in the source.
    pub number: u32,
    /// What it is about.
    pub name: &'static str,
    /// Entries, launched one after another on all ranks at once.
    pub kernels: &'static [&'static str],
    /// Ranks.
    pub ranks: u32,
    /// Blocks a rank.
    pub blocks: u32,
    /// Threads a block.
    pub threads: u32,
    /// What must come out.
    pub expect: Expect,
}

const fn test(
    number: u32,
    name: &'static str,
    kernels: &'static [&'static str],
    [ranks, blocks, threads]: [u32; 3],
    expect: Expect,
) -> Litmus {
    Litmus { number, name, kernels, ranks, blocks, threads, expect }
}

use Expect::{Clean, Deadlock, MixedSize, Overwrite, Race, RaceAndScope, Scope};

/// All of them.
#[rustfmt::skip]
pub const LITMUS: [Litmus; 95] = [
    test(1, "MP+rel.sys+acq.sys", &["t01"], [2, 1, 1], Clean),
    test(2, "MP+rlx.sys+acq.sys", &["t02"], [2, 1, 1], Race),
    test(3, "MP+rel.sys+rlx.sys", &["t03"], [2, 1, 1], Race),
    test(4, "MP+plain+plain", &["t04"], [2, 1, 1], Race),
    test(5, "MP+rel.agt+acq.agt xrank", &["t05"], [2, 1, 1], RaceAndScope),
    test(6, "MP+rel.agt+acq.sys xrank", &["t06"], [2, 1, 1], RaceAndScope),
    test(7, "MP+rel.sys+acq.agt xrank", &["t07"], [2, 1, 1], RaceAndScope),
    test(8, "MP+rel.agt+acq.agt xblock", &["t08"], [1, 2, 1], Clean),
    test(9, "MP+rel.wg+acq.agt xblock", &["t09"], [1, 2, 1], RaceAndScope),
    test(10, "MP+rel.wg+acq.wg same block", &["t10"], [1, 1, 2], Clean),
    test(11, "MP+rel.sys+acq.wg same block", &["t11"], [1, 1, 2], Clean),
    test(12, "MP+F.rel.sys;rlx+rlx;F.acq.sys", &["t12"], [2, 1, 1], Clean),
    test(13, "MP+F.rel.sys;rlx+acq", &["t13"], [2, 1, 1], Clean),
    test(14, "MP+F.rel.agt;rlx.sys+acq.sys", &["t14"], [2, 1, 1], Race),
    test(15, "MP+rlx;F.rel (fence after flag)", &["t15"], [2, 1, 1], Race),
    test(16, "MP+rel+F.acq;rlx (fence before poll)", &["t16"], [2, 1, 1], Race),
    test(17, "MP+F.acq as release", &["t17"], [2, 1, 1], Race),
    test(18, "MP+rel;rlx same thread (PTX 8.8 pattern 2)", &["t18"], [2, 1, 1], Clean),
    test(19, "MP+rel.sys flag2 then acq flag1", &["t19"], [2, 1, 1], Race),
    test(20, "volatile flag, no fence", &["t20"], [2, 1, 1], Race),
    test(21, "volatile + threadfence_system both sides", &["t21"], [2, 1, 1], Clean),
    test(22, "volatile + threadfence (device) xrank", &["t22"], [2, 1, 1], Race),
    test(23, "SB rlx", &["t23"], [2, 1, 1], Clean),
    test(24, "LB rlx", &["t24"], [2, 1, 1], Clean),
    test(25, "IRIW acq", &["t25"], [4, 1, 1], Clean),
    test(26, "2+2W rlx", &["t26"], [2, 1, 1], Clean),
    test(27, "2+2W plain", &["t27"], [2, 1, 1], Race),
    test(28, "Dekker rel/acq", &["t28"], [2, 1, 1], Clean),
    test(29, "Dekker F.sc", &["t29"], [2, 1, 1], Clean),
    test(30, "WRC rel/acq", &["t30"], [3, 1, 1], Clean),
    test(31, "ISA2 agt->sys", &["t31"], [2, 2, 1], Clean),
    test(32, "ISA2 wg->agt->sys", &["t32"], [2, 2, 2], Clean),
    test(33, "ISA2 agt middle too narrow", &["t33"], [2, 2, 1], RaceAndScope),
    test(34, "bar then t0 flag", &["t34"], [2, 1, 2], Clean),
    test(35, "no bar before t0 flag", &["t35"], [2, 1, 2], Race),
    test(36, "bar after t0 flag", &["t36"], [2, 1, 2], Race),
    test(37, "reader t0 waits, bar, t1 reads", &["t37"], [2, 1, 2], Clean),
    test(38, "reader t0 polls rlx, bar, F.acq only in t1", &["t38"], [2, 1, 2], Race),
    test(39, "barrier skipped by one thread", &["t39"], [1, 1, 2], Deadlock),
    test(40, "grid counter ar.agt then b0 flag.sys", &["t40"], [2, 2, 2], Clean),
    test(41, "grid counter rlx", &["t41"], [2, 2, 2], Race),
    test(42, "b0 flags without waiting for b1", &["t42"], [2, 2, 2], Race),
    test(43, "last block reduces: fence+rlx add+fence", &["t43"], [1, 2, 1], Clean),
    test(44, "rel store; rlx RMW by other; acq", &["t44"], [3, 1, 1], Clean),
    test(45, "rel store; rlx plain-atomic store by other; acq", &["t45"], [3, 1, 1], Race),
    test(46, "counter barrier ar n=3", &["t46"], [3, 1, 1], Clean),
    test(47, "counter barrier rel n=4", &["t47"], [4, 1, 1], Clean),
    test(48, "counter barrier rlx n=3", &["t48"], [3, 1, 1], Race),
    test(49, "counter barrier ar, rlx poll", &["t49"], [3, 1, 1], Race),
    test(50, "epochs, 1 slot, ack", &["t50"], [2, 1, 1], Clean),
    test(51, "epochs, 1 slot, no ack", &["t51"], [2, 1, 1], Race),
    test(52, "epochs, 2 slots, no ack, 3 calls", &["t52"], [2, 1, 1], Race),
    test(53, "flag constant 1, 2 calls", &["t53"], [2, 1, 1], Race),
    test(54, "wait uses == , producer runs ahead", &["t54"], [2, 1, 1], Deadlock),
    test(55, "symmetric push exchange, 2 slots, 3 calls", &["t55"], [2, 1, 1], Clean),
    test(56, "symmetric push exchange, 1 slot", &["t56"], [2, 1, 1], Race),
    test(57, "symmetric push, 1 slot + end barrier", &["t57"], [2, 1, 1], Clean),
    test(58, "flag reset after wait, constant flag", &["t58"], [2, 1, 1], Deadlock),
    test(59, "byte flags in one 8-byte word", &["t59"], [3, 1, 1], MixedSize),
    test(60, "byte flags read as bytes", &["t60"], [3, 1, 1], Clean),
    test(61, "adjacent fp16 by two threads", &["t61"], [1, 1, 2], Clean),
    test(62, "16B vector store over neighbour 4B", &["t62"], [2, 1, 1], Race),
    test(63, "overlapping RMW 4B and 8B", &["t63"], [2, 1, 1], MixedSize),
    test(64, "wave exchange, no wave sync", &["t64"], [1, 1, 2], Race),
    test(65, "wave exchange, wave sync", &["t65"], [1, 1, 2], Clean),
    test(66, "packet {data,flag}", &["t66"], [2, 1, 1], Clean),
    test(67, "packet as plain 16B vector", &["t67"], [2, 1, 1], Race),
    test(68, "packet flag, then other plain data", &["t68"], [2, 1, 1], Race),
    test(69, "packet slot reused, no ack", &["t69"], [2, 1, 1], Overwrite),
    test(70, "packet slot reused, packet ack", &["t70"], [2, 1, 1], Clean),
    test(71, "Lamport sentinel, payload -0.0", &["t71"], [2, 1, 1], Deadlock),
    test(72, "Lamport sentinel, -0.0 mapped to +0.0", &["t72"], [2, 1, 1], Clean),
    test(73, "fetch_add vs plain load", &["t73"], [2, 1, 1], Race),
    test(74, "two ranks store the same value, plain", &["t74"], [2, 1, 1], Race),
    test(75, "two ranks store the same value, rlx.sys", &["t75"], [2, 1, 1], Clean),
    test(76, "agent atomics on one counter by two ranks", &["t76"], [2, 1, 1], Scope),
    test(77, "CAS lock acq/rel", &["t77"], [2, 1, 1], Clean),
    test(78, "CAS lock, unlock rlx", &["t78"], [2, 1, 1], Race),
    test(79, "CAS lock, lock rlx", &["t79"], [2, 1, 1], Race),
    test(80, "dissemination n=3 ceil(log2)", &["t80"], [3, 1, 1], Clean),
    test(81, "dissemination n=5 ceil(log2)", &["t81"], [5, 1, 1], Clean),
    test(82, "dissemination n=6 ceil", &["t82"], [6, 1, 1], Clean),
    test(83, "dissemination n=7 ceil(log2)", &["t83"], [7, 1, 1], Clean),
    test(84, "dissemination n=3 floor", &["t84"], [3, 1, 1], Race),
    test(85, "dissemination n=5 floor", &["t85"], [5, 1, 1], Race),
    test(86, "dissemination n=7 floor", &["t86"], [7, 1, 1], Race),
    test(87, "xor barrier n=4", &["t87"], [4, 1, 1], Clean),
    test(88, "xor barrier n=3, absent partner skipped", &["t88"], [3, 1, 1], Race),
    test(89, "dissemination n=3, epochs, flag per round", &["t89"], [3, 1, 1], Clean),
    test(90, "dissemination n=3, one flag for all rounds, ==", &["t90"], [3, 1, 1], Deadlock),
    test(91, "kernel; stream sync; host barrier; peer kernel", &["write_x", "read_x"], [2, 1, 1], Clean),
    test(92, "kernel; host barrier without stream sync; peer kernel", &["write_and_read_x"], [2, 1, 1], Race),
    test(93, "kernel; stream sync; no host barrier", &["write_and_read_x"], [2, 1, 1], Race),
    test(94, "same stream, two kernels, no sync", &["write_x", "read_own_x"], [2, 1, 1], Clean),
    test(95, "plain reset, then atomics in next kernel", &["reset_c", "count_c"], [2, 1, 1], Clean),
];
