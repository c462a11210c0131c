// Warp operations. The lanes of a mask meet: each leaves its value, waits until all have, and reads.
// Lanes that a block does not have, and those whose threads have returned, are left out of a mask;
// any other lane that never comes is a deadlock.
//
// RC_WARP_SIZE (a manifest's definition) is 32 or 64.
#pragma once

#ifndef RC_WARP_SIZE
#define RC_WARP_SIZE 32
#endif
static constexpr int warpSize = RC_WARP_SIZE;
typedef unsigned long long rc_lanes;

// A set of lanes that meet. A lane is at most one meeting of a set ahead of the others, so two
// generations are enough.
struct rc_meeting {
  rc_lanes lanes, arrived;
  unsigned generation;
  rc_lanes came[2];
  unsigned long long values[2][RC_WARP_SIZE];
};
struct rc_meetings {
  static constexpr unsigned MOST = RC_WARP_SIZE / 2 + 1;
  unsigned used;  // poison, and so beyond MOST, until the first meeting
  unsigned last[RC_WARP_SIZE];  // by lane: the number of its last meeting
  rc_meeting list[MOST];
};
// In the block's own shared memory, like every `__shared__` variable.
static __thread rc_meetings rc_warps[1024 / RC_WARP_SIZE];

static inline int rc_lane() { return int(rc_now->tid.x % RC_WARP_SIZE); }
static inline rc_lanes rc_existing_lanes() {
  const unsigned left = rc_now->bdim.x - rc_now->tid.x / RC_WARP_SIZE * RC_WARP_SIZE;
  const unsigned count = left < RC_WARP_SIZE ? left : RC_WARP_SIZE;
  return ~0ull >> (64 - count);
}

static inline rc_lanes& rc_departed_lanes() { return rc_now->departed[rc_now->tid.x / RC_WARP_SIZE]; }
// Called at the end of every thread.
static inline void rc_depart() {
  rc_reported reported;
  rc_departed_lanes() |= 1ull << rc_lane();
}
// Ends a meeting to which everybody has come who still can.
static inline void rc_close(rc_meeting& meeting) {
  if (((meeting.arrived | rc_departed_lanes()) & meeting.lanes) != meeting.lanes) return;
  meeting.came[meeting.generation & 1] = meeting.arrived;
  meeting.arrived = 0;
  meeting.generation++;
}
static inline rc_meeting& rc_meeting_of(rc_lanes lanes) {
  rc_meetings& all = rc_warps[rc_now->tid.x / RC_WARP_SIZE];
  if (all.used > rc_meetings::MOST) {
    all.used = 0;
    for (unsigned& last : all.last) last = rc_meetings::MOST;
  }
  all.last[rc_lane()] = rc_meetings::MOST;
  unsigned number = 0;
  while (number < all.used && all.list[number].lanes != lanes) number++;
  if (number == rc_meetings::MOST) {
    // One is free again that nobody waits in, and that was nobody's last: all have read its values.
    const rc_lanes gone = rc_departed_lanes();
    const auto in_use = [&](unsigned candidate) {
      if (all.list[candidate].arrived) return true;
      for (int lane = 0; lane < RC_WARP_SIZE; lane++)
        if (all.last[lane] == candidate && !(gone >> lane & 1)) return true;
      return false;
    };
    for (number = 0; number < rc_meetings::MOST && in_use(number);) number++;
    if (number == rc_meetings::MOST) __builtin_trap();  // more sets of lanes at once than a warp may use here
  }
  rc_meeting& meeting = all.list[number];
  if (number == all.used) all.used++, meeting.lanes = 0;
  if (meeting.lanes != lanes) {
    meeting.lanes = lanes;
    meeting.arrived = 0;
    meeting.generation = 0;
  }
  all.last[rc_lane()] = number;
  return meeting;
}

// Leaves `value`; whether this meeting is over, who came, and what they left. The machinery's own
// accesses are not the kernel's: they are not reported.
struct rc_met {
  rc_meeting* meeting;
  unsigned generation;
  bool over() const {
    rc_reported reported;
    volatile unsigned& now = meeting->generation;
    if (now == generation) rc_close(*meeting);
    return now != generation;
  }
  rc_lanes came() const {
    rc_reported reported;
    return meeting->came[generation & 1];
  }
  unsigned long long operator[](int lane) const {
    rc_reported reported;
    return meeting->values[generation & 1][lane];
  }
};
static inline rc_met rc_arrive(rc_lanes mask, unsigned long long value) {
  rc_reported reported;
  rc_meeting& meeting = rc_meeting_of(mask & rc_existing_lanes());
  const unsigned generation = meeting.generation;
  meeting.values[generation & 1][rc_lane()] = value;
  meeting.arrived |= 1ull << rc_lane();
  rc_close(meeting);
  return {&meeting, generation};
}
// Leaves `value` and waits for the values of all lanes of the mask.
static inline rc_met rc_meet(rc_lanes mask, unsigned long long value) {
  const rc_met met = rc_arrive(mask, value);
  while (!met.over()) rc_event_at(RC_SPIN, RC_ACQ_REL, RC_WAVE, 0, nullptr);
  return met;
}
template <class T>
static inline T rc_shuffle(rc_lanes mask, T value, int lane) {
  static_assert(sizeof(T) <= 8, "shuffles move at most eight bytes");
  unsigned long long word = 0;
  __builtin_memcpy(&word, &value, sizeof(T));
  word = rc_meet(mask, word)[lane];
  __builtin_memcpy(&value, &word, sizeof(T));
  return value;
}
// The lanes that came with a predicate that holds.
static inline rc_lanes rc_ballot(rc_lanes mask, bool predicate) {
  const rc_met met = rc_meet(mask, predicate);
  const rc_lanes came = met.came();
  rc_lanes set = 0;
  for (int lane = 0; lane < RC_WARP_SIZE; lane++)
    if (came >> lane & 1 && met[lane]) set |= 1ull << lane;
  return set;
}

#define RC_ALL_LANES (~0ull)
template <class T>
static inline T __shfl_sync(rc_lanes mask, T v, int lane, int width = RC_WARP_SIZE) {
  return rc_shuffle(mask, v, (rc_lane() & ~(width - 1)) + (lane & (width - 1)));
}
template <class T>
static inline T __shfl_up_sync(rc_lanes mask, T v, unsigned delta, int width = RC_WARP_SIZE) {
  const bool inside = (rc_lane() & (width - 1)) >= int(delta);
  return rc_shuffle(mask, v, inside ? rc_lane() - int(delta) : rc_lane());
}
template <class T>
static inline T __shfl_down_sync(rc_lanes mask, T v, unsigned delta, int width = RC_WARP_SIZE) {
  const bool inside = (rc_lane() & (width - 1)) + int(delta) < width;
  return rc_shuffle(mask, v, inside ? rc_lane() + int(delta) : rc_lane());
}
template <class T>
static inline T __shfl_xor_sync(rc_lanes mask, T v, int bits, int width = RC_WARP_SIZE) {
  const int lane = rc_lane() ^ bits;
  return rc_shuffle(mask, v, lane < (rc_lane() & ~(width - 1)) + width ? lane : rc_lane());
}
template <class T>
static inline T __shfl(T v, int lane, int width = RC_WARP_SIZE) { return __shfl_sync(RC_ALL_LANES, v, lane, width); }
template <class T>
static inline T __shfl_up(T v, unsigned delta, int width = RC_WARP_SIZE) { return __shfl_up_sync(RC_ALL_LANES, v, delta, width); }
template <class T>
static inline T __shfl_down(T v, unsigned delta, int width = RC_WARP_SIZE) { return __shfl_down_sync(RC_ALL_LANES, v, delta, width); }
template <class T>
static inline T __shfl_xor(T v, int bits, int width = RC_WARP_SIZE) { return __shfl_xor_sync(RC_ALL_LANES, v, bits, width); }

#if RC_WARP_SIZE == 64
typedef unsigned long long rc_ballot_result;
#else
typedef unsigned rc_ballot_result;
#endif
static inline rc_ballot_result __ballot_sync(rc_lanes mask, int p) { return rc_ballot_result(rc_ballot(mask, p)); }
static inline int __any_sync(rc_lanes mask, int p) { return rc_ballot(mask, p) != 0; }
static inline int __all_sync(rc_lanes mask, int p) { return rc_ballot(mask, !p) == 0; }
static inline unsigned long long __ballot(int p) { return rc_ballot(RC_ALL_LANES, p); }
static inline int __any(int p) { return __any_sync(RC_ALL_LANES, p); }
static inline int __all(int p) { return __all_sync(RC_ALL_LANES, p); }
// Waits for the lanes of the mask and orders their memory. The executor knows whole waves of 32.
static inline void __syncwarp(rc_lanes mask = RC_ALL_LANES) {
  const bool whole = (mask & rc_existing_lanes()) == rc_existing_lanes();
  if (RC_WARP_SIZE == 32 && whole)
    rc_event_at(RC_WAVE_BARRIER, RC_ACQ_REL, RC_WAVE, 0, nullptr);
  else
    rc_meet(mask, 0);
}
#define __builtin_amdgcn_wave_barrier() __syncwarp()
static inline rc_ballot_result __activemask() {
  rc_reported reported;
  return rc_ballot_result(rc_existing_lanes() & ~rc_departed_lanes());
}
static inline unsigned __lane_id() { return unsigned(rc_lane()); }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline int __clz(int v) { return v ? __builtin_clz(unsigned(v)) : 32; }
