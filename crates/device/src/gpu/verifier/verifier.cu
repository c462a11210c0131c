// verifier.cu: fills heaps with what a call begins with, and compares them with what it must leave.
//
// It runs in a process of its own, in which no kernel under test ever ran. An image is a list of
// records. Each is a rectangle at the same place of some ranks' heaps, whose bytes are a function of
// their place, made once and compared with all of these heaps. The formulas are those of
// collectives::fill, and the structures those of collectives::record and of words.rs, field for
// field. Nothing is included, so that any compiler of CUDA or C++ takes it.
//
// Everything moves in units of 16 bytes that are aligned in the heap. A team is a few lanes at
// neighbouring units of a row; it takes STEPS steps: rows below each other as far as there are
// some, else further units of the row. A piece is what one block's teams take at once.

typedef unsigned char rc_u8;
typedef unsigned int rc_u32;
typedef unsigned long long rc_u64;
typedef long long rc_i64;

#define RC_INLINE static __device__ __forceinline__

enum { STEPS = 32, BATCH = 8, PAGE_LOG2 = 12 };

enum Kind { POISON = 0, ZERO = 1, FILLED = 2, STORED = 3 };

// What all records of an image share: collectives::record::Key.
struct Key {
  rc_u64 permutation;         // key of the permutation of a row fill's words
  rc_u64 words_per_row;
  rc_u64 element_log2;        // bytes, as a power of two
  rc_u64 column_multiplier;
  rc_u64 row_multiplier;
  rc_u64 call;
  rc_u64 places[8];           // what the place of a word in its block of eight adds: data
  rc_u64 poison_places[8];    // and poison
  rc_u64 stored_stride;       // bytes from a stored row to the next, a multiple of 16
  rc_u64 nan_add, nan_mask, nan_above;  // x is a NaN if ((x + add) & mask) > above
  rc_u64 heap_bytes;
  rc_u64 world;               // ranks
};

// A rectangle: collectives::record::Record and, behind it, work.rs's Work.
struct Record {
  rc_u64 source;
  rc_u64 ranks;      // bit r: it stands in rank r's heap
  rc_u64 own;        // whether the bytes carry the rank in whose heap they stand,
  rc_u64 rank;       // else this one
  rc_u64 start;      // bytes from the heap's start
  rc_u64 rows;
  rc_u64 row_bytes;
  rc_u64 row_stride;
  rc_u64 unit;       // so many bytes are right or wrong together
  rc_u64 any_nan;    // a NaN may be any NaN
  rc_u64 key;        // poison: its seed; stored: bytes from the buffer's start to the matrix
  rc_u64 from_row;   // row and byte of the source that stand first
  rc_u64 from_byte;
  rc_u64 end_piece;  // number of the first piece of the next record
  rc_u64 teams;
  rc_u64 strips;     // teams beside each other
  rc_u64 lanes_log2;
  rc_u64 rows_log2;  // rows a team takes; it takes STEPS >> rows_log2 units of each
  rc_u64 align;      // units are counted from the last multiple of this in front of a row
};

struct alignas(16) Unit {
  rc_u64 low, high;
};

constexpr rc_u64 EACH_BYTE = 0x0101010101010101ull;
constexpr rc_u64 CLASS = EACH_BYTE;
constexpr rc_u64 COLOUR = 0x0e0e0e0e0e0e0e0eull;

RC_INLINE rc_u64 mix(rc_u64 x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// The same, kept apart where it is seldom needed.
static __device__ __noinline__ rc_u32 hashed(rc_u64 x) { return rc_u32(mix(x)); }

// How a rank's data and poison differ from rank 0's, in each byte: the lower four bits of the rank in its
// upper half, the upper two in the upper two bits of its colour.
RC_INLINE rc_u64 rank_bits(rc_u64 rank) { return ((rank & 15) << 4 | rank >> 4 << 2) * EACH_BYTE; }

// ---- the tables of a block ----

RC_INLINE rc_u32 spread(rc_u32 x) {
  x = (x | x << 8) & 0x00ff00ff;
  x = (x | x << 4) & 0x0f0f0f0f;
  return x << 4;
}

// The name nibbles of a permuted number, each in the upper half of a byte; linear over exclusive or.
RC_INLINE rc_u64 name_of(rc_u32 x) {
  // Every bit spread over 28,
  x ^= x >> 9;
  x ^= (x << 17) & ((1u << 28) - 1);
  x ^= x >> 15;
  // seven nibbles that are the differences of eight, whose offset is a hash.
  rc_u32 n = x << 4;
  n ^= n << 4;
  n ^= n << 8;
  n ^= n << 16;
  n ^= 0x11111111u * ((x ^ (x >> 10) ^ (x >> 22)) & 0xf);
  return rc_u64(spread(n >> 16)) << 32 | spread(n & 0xffff);
}

// What would be computed for every word otherwise.
struct alignas(16) Tables {
  rc_u64 low[512], middle[256], upper[256];  // names of nine, eight and eight bits of a number
  rc_u64 places[8], poison_places[8];        // as in the key

  // All threads of a block together.
  __device__ __forceinline__ void make(const Key* key) {
    for (rc_u32 i = threadIdx.x; i < 512; i += blockDim.x) {
      low[i] = name_of(i);
      if (i < 256) middle[i] = name_of(i << 9);
      if (i < 256) upper[i] = name_of(i << 17);
      if (i < 8) places[i] = key->places[i];
      if (i < 8) poison_places[i] = key->poison_places[i];
    }
    __syncthreads();
  }
};

// ---- sources ----
//
// `unit` is the unit at a heap offset, which begins at `byte` of `row`. `batch` makes those of BATCH
// rows below each other, `stride` bytes from one to the next, where that takes fewer operations: where
// they are `regular`.

struct Zeros {
  __device__ __forceinline__ Unit unit(rc_u64, rc_i64, rc_u64) { return Unit{0, 0}; }
  __device__ __forceinline__ bool regular(rc_u64, rc_i64) const { return true; }
  __device__ __forceinline__ void batch(rc_u64, rc_i64, rc_u64, rc_u64, Unit* made) {
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++) made[i] = Unit{0, 0};
  }
};

// Of rank 0, like all that is made; the others' differs by `rank_bits`.
struct Poison {
  const Tables* tables;
  rc_u64 seed;

  __device__ __forceinline__ Unit unit(rc_u64, rc_i64, rc_u64 offset) {
    const rc_u64 block = mix(seed ^ (offset >> 6));
    const rc_u32 place = rc_u32(offset >> 3) & 7;
    return Unit{(block ^ tables->poison_places[place]) | CLASS, (block ^ tables->poison_places[place + 1]) | CLASS};
  }
  __device__ __forceinline__ bool regular(rc_u64, rc_i64) const { return true; }
  __device__ __forceinline__ void batch(rc_u64 row, rc_i64 byte, rc_u64 offset, rc_u64 stride, Unit* made) {
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++) made[i] = unit(row, byte, offset + i * stride);
  }
};

RC_INLINE Unit shifted(rc_u32 bits, rc_u64 first, rc_u64 second, rc_u64 third) {
  return Unit{first >> bits | second << (64 - bits), second >> bits | third << (64 - bits)};
}

// The keyed fill of collectives::fill::RowFill. Words are counted from a row's start, which may lie
// anywhere; those outside the row may be anything.
struct Filled {
  enum : rc_u32 { BLOCK_MASK = (1u << 25) - 1 };
  const Key* key;
  const Tables* tables;
  // Of the word last looked at and the two behind it: a step is often a row below the one before.
  rc_i64 column;
  rc_u64 colours[3];
  // Of the 2^28 words last looked at.
  rc_u32 high, add;

  RC_INLINE Filled of(const Key* key, const Tables* tables) {
    Filled filled = {key, tables, rc_i64(1) << 62, {}, ~0u, 0};
    return filled;
  }

  // The colours of four bytes, in place; `fraction` goes on to the next element.
  __device__ __forceinline__ rc_u32 colours_of(rc_u64& fraction) const {
    const rc_u32 element = 1u << key->element_log2;
    const rc_u32 each = element == 1 ? 0x02 : element == 2 ? 0x0202 : 0x02020202;
    rc_u32 bits = 0;
    for (rc_u32 byte = 0; byte < 4; byte += element) {
      bits |= rc_u32(fraction >> 61) * each << 8 * byte;
      fraction += key->column_multiplier;
    }
    return bits;
  }

  __device__ __forceinline__ void look_at(rc_i64 word) {
    if (word == column) return;
    column = word;
    rc_u64 fraction = rc_u64(word * 8 >> key->element_log2) * key->column_multiplier;
    for (rc_u32 i = 0; i < 3; i++) {
      const rc_u32 low = colours_of(fraction);
      colours[i] = rc_u64(key->element_log2 == 3 ? low : colours_of(fraction)) << 32 | low;
    }
  }

  __device__ __forceinline__ void choose_permutation(rc_u64 number) {
    if (rc_u32(number >> 28) == high) return;
    high = rc_u32(number >> 28);
    add = hashed(key->permutation ^ (number >> 28)) & BLOCK_MASK;
  }

  // The name of the block of eight words that holds one.
  __device__ __forceinline__ rc_u64 block(rc_u32 number) const {
    // A permutation of 25 bits,
    rc_u32 x = (((number >> 3) + add) * 0x0b52d4du) & BLOCK_MASK;
    x ^= x >> 13;
    x = (x * 0x9e3779bu) & BLOCK_MASK;
    x ^= x >> 14;
    // and its name.
    return tables->low[x & 511] ^ tables->middle[x >> 9 & 255] ^ tables->upper[x >> 17];
  }

  // What a row adds to colours; `fraction` is its product with the rows' multiplier.
  __device__ __forceinline__ rc_u64 row_bits(rc_u64 fraction) const {
    return ((rc_u32(fraction >> 61) + rc_u32(key->call)) & 7) * (EACH_BYTE << 1);
  }

  // Word `i` of those looked at; it has this number.
  __device__ __forceinline__ rc_u64 word(rc_u64 number, rc_u32 i, rc_u64 row_bits) {
    choose_permutation(number);
    const rc_u64 name = block(rc_u32(number)) ^ tables->places[number & 7];
    return name | ((colours[i] + row_bits) & COLOUR);
  }

  __device__ __forceinline__ Unit unit(rc_u64 row, rc_i64 byte, rc_u64) {
    look_at(byte >> 3);
    const rc_u64 number = row * key->words_per_row + rc_u64(column), bits = row_bits(row * key->row_multiplier);
    const rc_u64 first = word(number, 0, bits), second = word(number + 1, 1, bits);
    if ((byte & 7) == 0) return Unit{first, second};
    return shifted(rc_u32(byte & 7) * 8, first, second, word(number + 2, 2, bits));
  }

  // Units of two words of one block, all under one permutation.
  __device__ __forceinline__ bool regular(rc_u64 row, rc_i64 byte) const {
    const rc_u64 step = key->words_per_row, number = row * step + rc_u64(byte >> 3);
    return (byte & 7) == 0 && ((number | step) & 1) == 0 && number >> 28 == (number + BATCH * step) >> 28;
  }

  __device__ __forceinline__ void batch(rc_u64 row, rc_i64 byte, rc_u64, rc_u64, Unit* made) {
    look_at(byte >> 3);
    const rc_u64 step = key->words_per_row, number = row * step + rc_u64(column);
    choose_permutation(number);
    rc_u64 fraction = row * key->row_multiplier;
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++) {
      const rc_u32 low = rc_u32(number) + i * rc_u32(step);
      const rc_u64 name = block(low), bits = row_bits(fraction);
      const Unit places = *(const Unit*)&tables->places[low & 6];
      made[i].low = (name ^ places.low) | ((colours[0] + bits) & COLOUR);
      made[i].high = (name ^ places.high) | ((colours[1] + bits) & COLOUR);
      fraction += key->row_multiplier;
    }
  }
};

// Rows of a stored matrix. There is a unit more in front of them and behind.
struct Stored {
  const rc_u8* matrix;
  rc_u64 stride;

  __device__ __forceinline__ Unit unit(rc_u64 row, rc_i64 byte, rc_u64) {
    const rc_u64* words = (const rc_u64*)(matrix + row * stride) + (byte >> 3);
    const rc_u32 shift = rc_u32(byte & 7) * 8;
    return shift == 0 ? Unit{words[0], words[1]} : shifted(shift, words[0], words[1], words[2]);
  }
  __device__ __forceinline__ bool regular(rc_u64, rc_i64 byte) const { return (byte & 15) == 0; }
  __device__ __forceinline__ void batch(rc_u64 row, rc_i64 byte, rc_u64, rc_u64, Unit* made) {
    const rc_u8* first = matrix + row * stride + byte;
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++) made[i] = *(const Unit*)(first + i * stride);
  }
};

// What a launch is about.
struct Launch {
  const Key* __restrict__ key;
  const Record* __restrict__ records;
  rc_u64 record_count;
  const rc_u64* __restrict__ heaps;
  const rc_u8* __restrict__ stored;
  const Tables* tables;
};

// Calls `act` with the source of a record.
template <class Act>
RC_INLINE void with_source(const Launch& launch, const Record& record, Act& act) {
  switch (record.source) {
    case POISON:
      return act(Poison{launch.tables, record.key});
    case ZERO:
      return act(Zeros{});
    case FILLED:
      return act(Filled::of(launch.key, launch.tables));
    case STORED:
      return act(Stored{launch.stored + record.key, launch.key->stored_stride});
  }
}

// ---- places ----

// A unit of a row: where it is, and which of its bytes belong to the record.
struct Place {
  rc_u64 offset;        // in the heap
  rc_i64 byte;          // from the row's start
  rc_u32 first, end;    // none where the end is 0

  __device__ __forceinline__ bool is_whole() const { return first == 0 && end == 16; }
};

RC_INLINE Place place_of(const Record& record, rc_u64 row, rc_u64 unit) {
  const rc_u64 start = record.start + row * record.row_stride;
  Place place = {(start & ~(record.align - 1)) + unit * 16, 0, 0, 0};
  place.byte = rc_i64(place.offset - start);
  const rc_i64 left = rc_i64(record.row_bytes) - place.byte;
  if (row < record.rows && left > 0 && place.byte > -16) {
    place.first = place.byte < 0 ? rc_u32(-place.byte) : 0;
    place.end = left < 16 ? rc_u32(left) : 16;
  }
  return place;
}

// One bits in the bytes of a half unit from `first` up to, not including, `end`; both up to 16.
RC_INLINE rc_u64 low_mask(rc_u32 first, rc_u32 end) {
  const rc_u64 below_end = end >= 8 ? ~rc_u64(0) : (rc_u64(1) << 8 * end) - 1;
  const rc_u64 below_first = first >= 8 ? ~rc_u64(0) : (rc_u64(1) << 8 * first) - 1;
  return below_end & ~below_first;
}
RC_INLINE rc_u64 high_mask(rc_u32 first, rc_u32 end) {
  return low_mask(first > 8 ? first - 8 : 0, end > 8 ? end - 8 : 0);
}

// ---- what is done with units ----

// Makes one unit.
struct MakeUnit {
  rc_u64 row;
  rc_i64 byte;
  rc_u64 offset;
  Unit made;

  template <class Source>
  __device__ __forceinline__ void operator()(Source source) {
    made = source.unit(row, byte, offset);
  }
};

RC_INLINE Unit made_at(const Launch& launch, const Record& record, rc_u64 row, const Place& place) {
  MakeUnit make = {record.from_row + row, place.byte + rc_i64(record.from_byte), place.offset, {}};
  with_source(launch, record, make);
  return make.made;
}

// The lowest rank of a set.
RC_INLINE rc_u32 first_of(rc_u64 ranks) { return rc_u32(__ffsll(rc_i64(ranks))) - 1; }

RC_INLINE rc_u64 bits_in(const Record& record, rc_u32 rank) {
  return rank_bits(record.own != 0 ? rank : record.rank);
}

// Writes the bytes of a unit that belong to the record.
static __device__ __noinline__ void fill_part(const Launch& launch, const Record& record, rc_u64 row, rc_u64 unit) {
  const Place place = place_of(record, row, unit);
  if (place.end == 0) return;
  const Unit made = made_at(launch, record, row, place);
  for (rc_u64 left = record.ranks; left != 0; left &= left - 1) {
    const rc_u32 rank = first_of(left);
    rc_u8* to = (rc_u8*)launch.heaps[rank] + place.offset;
    const rc_u64 bits = bits_in(record, rank);
    for (rc_u32 byte = place.first; byte < place.end; byte++)
      to[byte] = rc_u8(((byte < 8 ? made.low : made.high) ^ bits) >> 8 * (byte & 7));
  }
}

// Bytes of half a unit that are wrong: whole elements, as on the CPU.
RC_INLINE rc_u64 wrong_in_half(const Key* key, const Record& record, rc_u64 seen, rc_u64 made, rc_u64 mask) {
  if (((seen ^ made) & mask) == 0) return 0;
  const rc_u32 unit = rc_u32(record.unit);
  const rc_u64 ones = unit == 8 ? ~rc_u64(0) : (rc_u64(1) << 8 * unit) - 1;
  rc_u64 wrong = 0;
  for (rc_u32 byte = 0; byte < 8; byte += unit) {
    const rc_u64 one = (seen >> 8 * byte) & ones, other = (made >> 8 * byte) & ones;
    if (((one ^ other) & (mask >> 8 * byte)) == 0) continue;
    const auto is_nan = [key](rc_u64 x) { return ((x + key->nan_add) & key->nan_mask) > key->nan_above; };
    if (record.any_nan && is_nan(one) && is_nan(other)) continue;
    wrong += unit;
  }
  return wrong;
}

// How many bytes of a unit are wrong, in all heaps; says in which pages.
static __device__ __noinline__ rc_u64 wrong_bytes(const Launch& launch, const Record& record, rc_u8* pages, rc_u64 row,
                                                  rc_u64 unit) {
  const Place place = place_of(record, row, unit);
  if (place.end == 0) return 0;
  const Unit made = made_at(launch, record, row, place);
  rc_u64 all = 0;
  for (rc_u64 left = record.ranks; left != 0; left &= left - 1) {
    const rc_u32 rank = first_of(left);
    const Unit seen = *(const Unit*)((const rc_u8*)launch.heaps[rank] + place.offset);
    const rc_u64 bits = bits_in(record, rank);
    const rc_u64 wrong =
        wrong_in_half(launch.key, record, seen.low, made.low ^ bits, low_mask(place.first, place.end)) +
        wrong_in_half(launch.key, record, seen.high, made.high ^ bits, high_mask(place.first, place.end));
    if (wrong != 0) pages[(rank * launch.key->heap_bytes + place.offset) >> PAGE_LOG2] = 1;
    all += wrong;
  }
  return all;
}

struct Fill {
  __device__ __forceinline__ void whole(rc_u8* heap, const rc_u64* offsets, const Unit* made, rc_u64 bits) {
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++) *(Unit*)(heap + offsets[i]) = Unit{made[i].low ^ bits, made[i].high ^ bits};
  }
  __device__ __forceinline__ bool agrees() { return true; }
  __device__ __forceinline__ void part(const Launch& launch, const Record& record, rc_u64 row, rc_u64 unit) {
    fill_part(launch, record, row, unit);
  }
};

struct Verify {
  rc_u8* pages;  // of all heaps: whether anything in them is wrong
  rc_u64 wrong;  // bytes
  rc_u64 differs;

  // All reads are under way at once.
  __device__ __forceinline__ void whole(const rc_u8* heap, const rc_u64* offsets, const Unit* made, rc_u64 bits) {
    Unit seen[BATCH];
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++) seen[i] = *(const Unit*)(heap + offsets[i]);
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++)
      differs |= (seen[i].low ^ made[i].low ^ bits) | (seen[i].high ^ made[i].high ^ bits);
  }
  __device__ __forceinline__ bool agrees() {
    const bool all = differs == 0;
    differs = 0;
    return all;
  }
  __device__ __forceinline__ void part(const Launch& launch, const Record& record, rc_u64 row, rc_u64 unit) {
    wrong += wrong_bytes(launch, record, pages, row, unit);
  }
};

// A team's steps. Whole units are made once and then taken heap by heap, in batches where they are
// regular; what is at the edge of a row, or does not agree, is taken unit by unit.
template <class Action>
struct Steps {
  const Launch& launch;
  const Record& record;
  Action& action;
  rc_u32 team, lane;

  __device__ __forceinline__ rc_u32 row_mask() const { return (1u << record.rows_log2) - 1; }
  __device__ __forceinline__ rc_u64 row_of(rc_u32 step) const {
    return (rc_u64(team / rc_u32(record.strips)) << record.rows_log2) + (step & row_mask());
  }
  __device__ __forceinline__ rc_u64 unit_of(rc_u32 step) const {
    const rc_u64 strip = rc_u64(team % rc_u32(record.strips)) * (STEPS >> record.rows_log2) + (step >> record.rows_log2);
    return (strip << record.lanes_log2) + lane;
  }

  // In every heap. False where anything must be looked at again.
  __device__ __forceinline__ bool whole(const rc_u64* offsets, const Unit* made) {
#pragma unroll 1
    for (rc_u64 left = record.ranks; left != 0; left &= left - 1) {
      const rc_u32 rank = first_of(left);
      action.whole((rc_u8*)launch.heaps[rank], offsets, made, bits_in(record, rank));
    }
    return action.agrees();
  }

  template <class Source>
  __device__ __forceinline__ bool regular(Source& source, rc_u32 step) {
    const rc_u64 row = row_of(step), from_row = record.from_row + row;
    const Place place = place_of(record, row, unit_of(step));
    const rc_i64 byte = place.byte + rc_i64(record.from_byte);
    if (!place.is_whole() || row + BATCH > record.rows || !source.regular(from_row, byte)) return false;
    rc_u64 offsets[BATCH];
    Unit made[BATCH];
    source.batch(from_row, byte, place.offset, record.row_stride, made);
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++) offsets[i] = place.offset + i * record.row_stride;
    return whole(offsets, made);
  }

  template <class Source>
  __device__ __forceinline__ bool irregular(Source& source, rc_u32 step) {
    rc_u64 offsets[BATCH];
    Unit made[BATCH];
    bool all = true;
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++) {
      const rc_u64 row = row_of(step + i);
      const Place place = place_of(record, row, unit_of(step + i));
      offsets[i] = place.offset;
      all &= place.is_whole();
      if (all) made[i] = source.unit(record.from_row + row, place.byte + rc_i64(record.from_byte), place.offset);
    }
    return all && whole(offsets, made);
  }

  template <class Source>
  __device__ __forceinline__ void operator()(Source source) {
    // Whether the units of a batch lie below each other, at the same place of their rows.
    const bool below = BATCH <= row_mask() + 1 && (record.row_stride & (record.align - 1)) == 0;
#pragma unroll 1
    for (rc_u32 step = 0; step < STEPS; step += BATCH) {
      if ((below && regular(source, step)) || irregular(source, step)) continue;
#pragma unroll 1
      for (rc_u32 i = step; i < step + BATCH; i++) action.part(launch, record, row_of(i), unit_of(i));
    }
  }
};

// Calls `work(record's number, team, lane)` for this thread's share of all pieces.
template <class Work>
RC_INLINE void each_piece(const Launch& launch, Work work) {
  const Record* __restrict__ records = launch.records;
  const rc_u64 pieces = records[launch.record_count - 1].end_piece;
  rc_u64 number = 0;
  for (rc_u64 piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    // The first record that ends behind the piece.
    if (records[number].end_piece <= piece) {
      rc_u64 low = number + 1, high = launch.record_count - 1;
      while (low < high) {
        const rc_u64 middle = (low + high) / 2;
        if (records[middle].end_piece <= piece)
          low = middle + 1;
        else
          high = middle;
      }
      number = low;
    }
    const Record& record = records[number];
    const rc_u64 first = number == 0 ? 0 : records[number - 1].end_piece;
    const rc_u64 thread = (piece - first) * blockDim.x + threadIdx.x;
    const rc_u64 team = thread >> record.lanes_log2;
    if (team < record.teams) work(number, rc_u32(team), rc_u32(thread) & ((1u << record.lanes_log2) - 1));
  }
}

// heaps[r] is the address of rank r's heap, aligned to 16 bytes.
extern "C" __global__ void __launch_bounds__(256, 2)
    rc_fill(const Key* __restrict__ key, const Record* __restrict__ records, rc_u64 record_count,
            const rc_u64* __restrict__ heaps, const rc_u8* __restrict__ stored) {
  __shared__ Tables tables;
  tables.make(key);
  const Launch launch = {key, records, record_count, heaps, stored, &tables};
  each_piece(launch, [&](rc_u64 number, rc_u32 team, rc_u32 lane) {
    Fill fill;
    Steps<Fill> steps = {launch, records[number], fill, team, lane};
    with_source(launch, records[number], steps);
  });
}

// Adds to `counts`, of all records and then of each, and sets `pages`; both begin as zero.
extern "C" __global__ void __launch_bounds__(256, 2)
    rc_verify(const Key* __restrict__ key, const Record* __restrict__ records, rc_u64 record_count,
              const rc_u64* __restrict__ heaps, const rc_u8* __restrict__ stored, rc_u64* counts, rc_u8* pages) {
  __shared__ Tables tables;
  tables.make(key);
  const Launch launch = {key, records, record_count, heaps, stored, &tables};
  each_piece(launch, [&](rc_u64 number, rc_u32 team, rc_u32 lane) {
    Verify verify = {pages, 0, 0};
    Steps<Verify> steps = {launch, records[number], verify, team, lane};
    with_source(launch, records[number], steps);
    if (verify.wrong == 0) return;
    atomicAdd(&counts[0], verify.wrong);
    atomicAdd(&counts[1 + number], verify.wrong);
  });
}

// ---- stored matrices that are exact in any order: collectives::exact ----

enum Op { SUM = 0, MIN = 1, MAX = 2, AVG = 3, PREMUL_SUM = 4, PROD = 5 };
enum Numbers { SUMS = 0, WRAPPING = 1, AVERAGES = 2, EXTREMES = 3 };

// collectives::exact::Constants, and the matrices' size.
struct Exact {
  rc_u64 element;  // bytes
  rc_u64 is_float, is_signed, exponent_bits, mantissa_bits, bias;
  rc_u64 op;
  rc_u64 members;
  rc_u64 seed;
  rc_u64 numbers;        // what they are made of, and of these:
  rc_u64 count;          // SUMS: odd magnitudes; AVERAGES: the highest level; EXTREMES: all values
  rc_u64 second;         // SUMS: integers; AVERAGES: whether there are negative ones; EXTREMES: bits of a mantissa
  rc_u64 third;          // SUMS: their unit; EXTREMES: the smallest exponent
  rc_u64 column_multiplier, row_multiplier, call;
  rc_i64 first_exponent;
  rc_u64 matrices, rows, columns, stride;
};

// What the elements of one place have in common.
struct ExactPlace {
  const Exact& exact;
  rc_u64 place;  // its hash
  rc_u64 turn;   // row, column and call
  rc_u32 colour;

  __device__ __forceinline__ rc_u64 turned(rc_u64 slot) const {
    return slot < exact.members ? (slot + (place >> 40)) % exact.members : slot;
  }

  // ---- sums: collectives::exact::sums ----

  // Integer number `index`: the positive ones ascending, then the negative ones.
  __device__ __forceinline__ rc_i64 odd(rc_u64 index) const {
    const bool positive = index < exact.count;
    return positive ? rc_i64(2 * index + 1) : -rc_i64(2 * (index - exact.count) + 1);
  }

  __device__ __forceinline__ rc_i64 integer(rc_u64 slot) const {
    const rc_u64 integers = exact.second;
    const rc_u64 first = (integers >> 48 == 0 ? place & 0xffffffffffffull : mix(place)) % integers;
    if (slot >= integers && slot < exact.members) return 0;
    // One even integer makes the sum odd where the number of odd ones is even.
    const rc_u64 count = exact.members < integers ? exact.members : integers;
    const rc_i64 start = odd(first), value = odd((first + slot) % integers);
    const rc_u64 even = start == 1 || start == -1 ? 1 : 0;
    const rc_i64 number = count % 2 == 0 && slot == even ? value - (value > 0 ? 1 : -1) : value;
    const bool negative = integers == 1 && (place >> 39 & 1) != 0;
    return negative ? -number : number;
  }

  // The bits of `integer` times a power of two, which the type holds exactly.
  __device__ __forceinline__ rc_u64 encode(rc_i64 integer, int exponent) const {
    if (integer == 0) return 0;
    exponent += int(exact.first_exponent) + int(colour);
    const rc_u64 magnitude = rc_u64(integer < 0 ? -integer : integer);
    int top = 0;
    while (magnitude >> top > 1) top++;
    // As for subnormals: the smallest exponent has no hidden bit.
    const int least = 1 - int(exact.bias), scale = top + exponent > least ? top + exponent : least;
    const int shift = int(exact.mantissa_bits) - scale + exponent;
    const rc_u64 units = shift >= 0 ? magnitude << shift : magnitude >> -shift;
    const rc_u64 sign = rc_u64(integer < 0) << (exact.exponent_bits + exact.mantissa_bits);
    return sign | ((rc_u64(scale - least) << exact.mantissa_bits) + units);
  }

  // ---- integers that wrap: collectives::exact::wrapping ----

  __device__ __forceinline__ rc_u64 wrapping(rc_u64 slot) const {
    const rc_u64 drawn = mix(place), nobodys = (drawn >> 40) % (exact.members + 1);
    const rc_u64 number = place + (drawn | 1) * (slot + (slot >= nobodys ? 1 : 0));
    return exact.op == PROD ? number << 1 | 1 : number;
  }

  // ---- averages of integers: collectives::exact::averages ----

  __device__ __forceinline__ rc_i64 average(rc_u64 slot) const {
    const rc_u64 level = 1 + mix(place) % exact.count, apart = mix(place ^ (slot / 2 + 1)) % (level + 1);
    const bool lone = slot + 1 == exact.members && slot % 2 == 0;
    rc_i64 number = rc_i64(lone ? level : slot % 2 == 0 ? level + apart : level - apart);
    if (slot == 0 && (place >> 62 & 1) != 0) number--;
    return exact.second != 0 && place >> 63 != 0 ? -number : number;
  }

  // ---- the smallest and the largest: collectives::exact::extremes ----

  __device__ __forceinline__ rc_u64 extreme(rc_u64 slot) const {
    const rc_u64 half = exact.count / (2 * exact.members), step = 1 + mix(place) % (half == 0 ? 1 : half);
    return place % (exact.count - step * exact.members) + step * ((slot + turn) % exact.members);
  }

  // The bits of a number, counted from the smallest.
  __device__ __forceinline__ rc_u64 bits(rc_u64 number) const {
    if (exact.is_float == 0) return number - (exact.is_signed << (8 * exact.element - 1));
    const rc_u64 positive = exact.count / 2;
    const bool negative = number < positive;
    const rc_u64 above = negative ? positive - 1 - number : number - positive;
    const rc_u64 fraction = above & ((rc_u64(1) << exact.second) - 1);
    const rc_u64 exponent = exact.third + exact.bias + (above >> exact.second);
    const rc_u64 sign = rc_u64(negative) << (exact.exponent_bits + exact.mantissa_bits);
    return sign | exponent << exact.mantissa_bits | fraction << (exact.mantissa_bits - exact.second);
  }

  __device__ __forceinline__ rc_u64 input(rc_u64 slot) const {
    switch (exact.numbers) {
      case WRAPPING:
        return wrapping(turned(slot));
      case AVERAGES:
        return rc_u64(average(turned(slot)));
      case EXTREMES:
        return bits(extreme(slot));
      default:
        const bool halved = exact.op == PREMUL_SUM && slot < exact.members && slot % 2 == 0;
        return encode(integer(turned(slot)) * rc_i64(exact.third), halved ? -1 : 0);
    }
  }

  __device__ __forceinline__ rc_u64 reduced() const {
    rc_u64 total = exact.op == PROD ? 1 : 0;
    for (rc_u64 slot = 0; slot < exact.members; slot++) {
      rc_u64 term;
      switch (exact.numbers) {
        case WRAPPING:
          term = wrapping(turned(slot)) * (exact.op == PREMUL_SUM && slot % 2 == 0 ? 2 : 1);
          total = exact.op == PROD ? total * term : total + term;
          break;
        case AVERAGES:
          total += rc_u64(average(turned(slot)));
          break;
        case EXTREMES:
          term = extreme(slot);
          if (slot == 0 || (exact.op == MIN ? term < total : term > total)) total = term;
          break;
        default:
          total += rc_u64(integer(turned(slot)));
      }
    }
    switch (exact.numbers) {
      case WRAPPING:
        return total;
      case AVERAGES:
        return rc_u64(rc_i64(total) / rc_i64(exact.members));
      case EXTREMES:
        return bits(total);
      default:
        // Only an average's integers have a unit: the odd part of the number of members, which leaves
        // powers of two to divide by.
        int halvings = 0;
        while (exact.op == AVG && (exact.members >> halvings) % 2 == 0) halvings++;
        return encode(rc_i64(total), -halvings);
    }
  }
};

// slots[i] says what matrix i is: the input of the rank with this slot, or for ~0 the result.
extern "C" __global__ void __launch_bounds__(256)
    rc_make(const Exact* __restrict__ exact_at, const rc_u64* __restrict__ slots, rc_u64* __restrict__ stored) {
  const Exact exact = *exact_at;
  const rc_u64 row_words = exact.stride / 8, words = exact.matrices * exact.rows * row_words;
  const rc_u64 threads = rc_u64(gridDim.x) * blockDim.x;
  for (rc_u64 number = rc_u64(blockIdx.x) * blockDim.x + threadIdx.x; number < words; number += threads) {
    const rc_u64 slot = slots[number / row_words / exact.rows], row = number / row_words % exact.rows;
    const rc_u64 row_colour = (row * exact.row_multiplier >> 61) + exact.call;
    rc_u64 column = number % row_words * (8 / exact.element), word = 0;
    for (rc_u32 byte = 0; byte < 8 && column < exact.columns; byte += rc_u32(exact.element), column++) {
      const rc_u64 place = mix(exact.seed ^ (row << 32 | column));
      const rc_u64 colour = ((column * exact.column_multiplier >> 61) + row_colour) & 7;
      const ExactPlace elements = {exact, place, row + column + exact.call, rc_u32(colour)};
      const rc_u64 bits = slot == ~rc_u64(0) ? elements.reduced() : elements.input(slot);
      const rc_u64 ones = exact.element == 8 ? ~rc_u64(0) : (rc_u64(1) << 8 * exact.element) - 1;
      word |= (bits & ones) << 8 * byte;
    }
    stored[number] = word;
  }
}

// What a device can do at most: the yardstick of the other two.
extern "C" __global__ void __launch_bounds__(256) rc_copy(Unit* __restrict__ to, const Unit* __restrict__ from, rc_u64 units) {
  for (rc_u64 unit = rc_u64(blockIdx.x) * blockDim.x + threadIdx.x; unit < units; unit += rc_u64(gridDim.x) * blockDim.x)
    to[unit] = from[unit];
}
