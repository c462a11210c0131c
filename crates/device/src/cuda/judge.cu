// judge.cu: fills heaps with what a call begins with, and compares them with what it must leave.
//
// It runs in a process of its own, in which no kernel under test ever ran. An image is a list of
// records. Each is a rectangle at the same place of some ranks' heaps, whose bytes are a function of
// their place, made once and compared with all of these heaps. The formulas are those of
// collectives::fill, and the structures those of collectives::record and of judge.rs, field for
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

enum { STEPS = 8, BATCH = 4, PAGE_LOG2 = 12 };

enum Kind { POISON = 0, ZERO = 1, FILLED = 2, STORED = 3 };

// What all records of an image share: collectives::record::Key.
struct Key {
  rc_u64 permutation;         // key of the permutation of a row fill's words
  rc_u64 words_per_row;
  rc_u64 element;             // bytes
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

// A rectangle: collectives::record::Record and, behind it, judge.rs's Work.
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

// How a rank's data and poison differ from rank 0's: in the upper half of each byte.
RC_INLINE rc_u64 rank_bits(rc_u64 rank) { return rank * (EACH_BYTE << 4); }

// ---- sources: each gives the unit at a heap offset, which begins at `byte` of `row` ----

struct Zeros {
  __device__ __forceinline__ Unit unit(rc_u64, rc_i64, rc_u64) { return Unit{0, 0}; }
};

// Of rank 0, like all that is made; the others' differs by `rank_bits`.
struct Poison {
  const rc_u64* places;
  rc_u64 seed;

  __device__ __forceinline__ Unit unit(rc_u64, rc_i64, rc_u64 offset) {
    const rc_u64 block = mix(seed ^ (offset >> 6));
    const rc_u32 place = rc_u32(offset >> 3) & 7;
    return Unit{(block ^ places[place]) | CLASS, (block ^ places[place + 1]) | CLASS};
  }
};

// A unit of words that are counted from the start of a row, which may lie anywhere. `Words` gives
// word `i` behind the one that `at` chose; words outside the row may be anything.
template <class Words>
struct OfWords {
  Words words;

  __device__ __forceinline__ Unit unit(rc_u64 row, rc_i64 byte, rc_u64) {
    const rc_u32 shift = rc_u32(byte & 7) * 8;
    words.at(row, byte >> 3);
    const rc_u64 first = words.word(0), second = words.word(1);
    if (shift == 0) return Unit{first, second};
    const rc_u64 third = words.word(2);
    return Unit{first >> shift | second << (64 - shift), second >> shift | third << (64 - shift)};
  }
};

// The keyed fill of collectives::fill::RowFill.
struct RowWords {
  enum : rc_u32 { BLOCK_MASK = (1u << 25) - 1, NAME_MASK = (1u << 28) - 1 };
  const Key* key;
  rc_u64 words_per_row;
  // Of the column last looked at, because the next step is often a row below.
  rc_i64 column;
  rc_u64 colours[3];
  // Of the 2^28 words last looked at.
  rc_u64 high;
  rc_u32 add;
  rc_u64 number, name, row_bits;

  RC_INLINE RowWords of(const Key* key) {
    RowWords words = {};
    words.key = key;
    words.words_per_row = key->words_per_row;
    words.column = rc_i64(1) << 62;
    words.high = ~rc_u64(0);
    return words;
  }

  // The colours of a word's bytes, in place.
  __device__ __forceinline__ rc_u64 colours_of(rc_i64 word) const {
    const rc_u64 element = key->element, multiplier = key->column_multiplier;
    const rc_u64 each = element == 8 ? EACH_BYTE : EACH_BYTE & ((rc_u64(1) << 8 * element) - 1);
    rc_u64 fraction = rc_u64(word) * (8 / element) * multiplier;
    rc_u64 bits = 0;
    for (rc_u32 byte = 0; byte < 8; byte += rc_u32(element)) {
      bits |= (fraction >> 61) * each << (8 * byte + 1);
      fraction += multiplier;
    }
    return bits;
  }

  __device__ __forceinline__ rc_u64 name_of(rc_u64 word) {
    if (word >> 28 != high) {
      high = word >> 28;
      add = rc_u32(mix(key->permutation ^ high)) & BLOCK_MASK;
    }
    // A permutation of 25 bits,
    rc_u32 x = ((rc_u32(word >> 3) + add) * 0x0b52d4du) & BLOCK_MASK;
    x ^= x >> 13;
    x = (x * 0x9e3779bu) & BLOCK_MASK;
    x ^= x >> 14;
    // every bit of it spread over 28,
    x ^= x >> 9;
    x ^= (x << 17) & NAME_MASK;
    x ^= x >> 15;
    // seven nibbles that are the differences of eight, whose offset is a hash,
    rc_u32 n = x << 4;
    n ^= n << 4;
    n ^= n << 8;
    n ^= n << 16;
    n ^= 0x11111111u * ((x ^ (x >> 11) ^ (x >> 21)) & 0xf);
    // each in the upper half of a byte.
    const rc_u32 low = spread(n & 0xffff), upper = spread(n >> 16);
    return rc_u64(upper) << 32 | low;
  }

  RC_INLINE rc_u32 spread(rc_u32 x) {
    x = (x | x << 8) & 0x00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f;
    return x << 4;
  }

  __device__ __forceinline__ void at(rc_u64 row, rc_i64 word) {
    if (word != column) {
      column = word;
      for (rc_u32 i = 0; i < 3; i++) colours[i] = colours_of(word + i);
    }
    number = row * words_per_row + rc_u64(word);
    name = name_of(number);
    row_bits = (((row * key->row_multiplier >> 61) + key->call) & 7) * (EACH_BYTE << 1);
  }

  __device__ __forceinline__ rc_u64 word(rc_u32 i) {
    const rc_u64 wanted = number + i;
    if (i > 0 && (wanted & 7) == 0) name = name_of(wanted);
    return (name ^ key->places[wanted & 7]) | ((colours[i] + row_bits) & COLOUR);
  }
};

// Rows of a stored matrix. There is a unit more in front of them and behind.
struct StoredWords {
  const rc_u8* matrix;
  rc_u64 stride;
  const rc_u64* first;
  Unit unit;

  __device__ __forceinline__ void at(rc_u64 row, rc_i64 word) {
    first = (const rc_u64*)(matrix + row * stride) + word;
    unit = word % 2 == 0 ? *(const Unit*)first : Unit{first[0], first[1]};
  }
  __device__ __forceinline__ rc_u64 word(rc_u32 i) const { return i == 0 ? unit.low : i == 1 ? unit.high : first[2]; }
};

// Calls `act` with the source of a record.
template <class Act>
RC_INLINE void with_source(const Key* key, const Record& record, const rc_u8* stored, Act& act) {
  switch (record.source) {
    case POISON:
      return act(Poison{key->poison_places, record.key});
    case ZERO:
      return act(Zeros{});
    case FILLED:
      return act(OfWords<RowWords>{RowWords::of(key)});
    case STORED:
      return act(OfWords<StoredWords>{{stored + record.key, key->stored_stride, nullptr, {}}});
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
  Place place = {(start & ~rc_u64(15)) + unit * 16, 0, 0, 0};
  place.byte = rc_i64(place.offset - start);
  const rc_i64 left = rc_i64(record.row_bytes) - place.byte;
  if (row < record.rows && left > 0) {
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

// What a launch is about.
struct Launch {
  const Key* __restrict__ key;
  const Record* __restrict__ records;
  rc_u64 record_count;
  const rc_u64* __restrict__ heaps;
  const rc_u8* __restrict__ stored;
};

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
  with_source(launch.key, record, launch.stored, make);
  return make.made;
}

RC_INLINE bool stands_in(const Record& record, rc_u32 rank) { return (record.ranks >> rank & 1) != 0; }

RC_INLINE rc_u64 bits_in(const Record& record, rc_u32 rank) {
  return rank_bits(record.own != 0 ? rank : record.rank);
}

// Writes the bytes of a unit that belong to the record.
static __device__ __noinline__ void fill_part(const Launch& launch, const Record& record, rc_u64 row, rc_u64 unit) {
  const Place place = place_of(record, row, unit);
  if (place.end == 0) return;
  const Unit made = made_at(launch, record, row, place);
  for (rc_u32 rank = 0; rank < launch.key->world; rank++) {
    if (!stands_in(record, rank)) continue;
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
  for (rc_u32 rank = 0; rank < launch.key->world; rank++) {
    if (!stands_in(record, rank)) continue;
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
  __device__ __forceinline__ bool look_again() { return false; }
  __device__ __forceinline__ void part(const Launch& launch, const Record& record, rc_u64 row, rc_u64 unit) {
    fill_part(launch, record, row, unit);
  }
};

struct Verify {
  rc_u8* pages;  // of all heaps: whether anything in them is wrong
  rc_u64 wrong;  // bytes
  rc_u64 differs;

  // The reads of a batch are under way at once.
  __device__ __forceinline__ void whole(const rc_u8* heap, const rc_u64* offsets, const Unit* made, rc_u64 bits) {
    Unit seen[BATCH];
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++) seen[i] = *(const Unit*)(heap + offsets[i]);
#pragma unroll
    for (rc_u32 i = 0; i < BATCH; i++)
      differs |= (seen[i].low ^ made[i].low ^ bits) | (seen[i].high ^ made[i].high ^ bits);
  }
  __device__ __forceinline__ bool look_again() {
    const bool again = differs != 0;
    differs = 0;
    return again;
  }
  __device__ __forceinline__ void part(const Launch& launch, const Record& record, rc_u64 row, rc_u64 unit) {
    wrong += wrong_bytes(launch, record, pages, row, unit);
  }
};

// A team's steps. A batch of whole units is made once, then taken heap by heap; what is at the edge
// of a row, or does not agree, is taken unit by unit.
template <class Action>
struct Steps {
  const Launch& launch;
  const Record& record;
  Action& action;
  rc_u32 team, lane;

  template <class Source>
  __device__ __forceinline__ void operator()(Source source) {
    const rc_u32 strips = rc_u32(record.strips), lanes_log2 = rc_u32(record.lanes_log2);
    const rc_u32 rows_log2 = rc_u32(record.rows_log2), row_mask = (1u << rows_log2) - 1;
    const rc_u64 first_row = rc_u64(team / strips) << rows_log2;
    const rc_u64 first_unit = (rc_u64(team % strips) * (STEPS >> rows_log2) << lanes_log2) + lane;
    const rc_u32 world = rc_u32(launch.key->world);
#pragma unroll 1
    for (rc_u32 step = 0; step < STEPS; step += BATCH) {
      rc_u64 offsets[BATCH];
      Unit made[BATCH];
      bool whole = true;
#pragma unroll
      for (rc_u32 i = 0; i < BATCH; i++) {
        const rc_u64 row = first_row + ((step + i) & row_mask);
        const Place place = place_of(record, row, first_unit + (rc_u64((step + i) >> rows_log2) << lanes_log2));
        offsets[i] = place.offset;
        whole &= place.is_whole();
        if (whole) made[i] = source.unit(record.from_row + row, place.byte + rc_i64(record.from_byte), place.offset);
      }
      if (whole) {
#pragma unroll 1
        for (rc_u32 rank = 0; rank < world; rank++)
          if (stands_in(record, rank))
            action.whole((rc_u8*)launch.heaps[rank], offsets, made, bits_in(record, rank));
      }
      if (whole && !action.look_again()) continue;
#pragma unroll 1
      for (rc_u32 i = step; i < step + BATCH; i++)
        action.part(launch, record, first_row + (i & row_mask), first_unit + (rc_u64(i >> rows_log2) << lanes_log2));
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
extern "C" __global__ void __launch_bounds__(256)
    rc_fill(const Key* __restrict__ key, const Record* __restrict__ records, rc_u64 record_count,
            const rc_u64* __restrict__ heaps, const rc_u8* __restrict__ stored) {
  const Launch launch = {key, records, record_count, heaps, stored};
  each_piece(launch, [&](rc_u64 number, rc_u32 team, rc_u32 lane) {
    Fill fill;
    Steps<Fill> steps = {launch, records[number], fill, team, lane};
    with_source(key, records[number], stored, steps);
  });
}

// Adds to `counts`, of all records and then of each, and sets `pages`; both begin as zero.
extern "C" __global__ void __launch_bounds__(256)
    rc_verify(const Key* __restrict__ key, const Record* __restrict__ records, rc_u64 record_count,
              const rc_u64* __restrict__ heaps, const rc_u8* __restrict__ stored, rc_u64* counts, rc_u8* pages) {
  const Launch launch = {key, records, record_count, heaps, stored};
  each_piece(launch, [&](rc_u64 number, rc_u32 team, rc_u32 lane) {
    Verify verify = {pages, 0, 0};
    Steps<Verify> steps = {launch, records[number], verify, team, lane};
    with_source(key, records[number], stored, steps);
    if (verify.wrong == 0) return;
    atomicAdd(&counts[0], verify.wrong);
    atomicAdd(&counts[1 + number], verify.wrong);
  });
}

// ---- stored matrices that are exact in any order: collectives::exact ----

enum Op { SUM = 0, MIN = 1, MAX = 2, AVG = 3, PREMUL_SUM = 4 };

// collectives::exact::Constants, and the matrices' size.
struct Exact {
  rc_u64 element;  // bytes
  rc_u64 is_float, exponent_bits, mantissa_bits, bias;
  rc_u64 op;
  rc_u64 members;
  rc_u64 seed;
  rc_u64 magnitudes;
  rc_u64 integers;
  rc_u64 colours;
  rc_u64 unit;
  rc_u64 column_multiplier, row_multiplier, call;
  rc_i64 first_exponent;
  rc_u64 matrices, rows, columns, stride;
};

// What the elements of one place have in common.
struct ExactPlace {
  const Exact& exact;
  rc_u64 first, turn;
  rc_u32 colour;

  // Integer number `index`: the positive ones ascending, then the negative ones.
  __device__ __forceinline__ rc_i64 odd(rc_u64 index) const {
    const bool positive = index < exact.magnitudes;
    return positive ? rc_i64(2 * index + 1) : -rc_i64(2 * (index - exact.magnitudes) + 1);
  }

  __device__ __forceinline__ rc_i64 integer(rc_u64 slot) const {
    const rc_u64 turned = slot < exact.members ? (slot + turn) % exact.members : slot;
    const rc_i64 value = odd((first + turned) % exact.integers);
    if (exact.op == MIN || exact.op == MAX) return value;
    if (turned >= exact.integers && turned < exact.members) return 0;
    // One even integer makes the sum odd where the number of odd ones is even.
    const rc_u64 count = exact.members < exact.integers ? exact.members : exact.integers;
    const rc_i64 start = odd(first);
    const rc_u64 even = start == 1 || start == -1 ? 1 : 0;
    return count % 2 == 0 && turned == even ? value - (value > 0 ? 1 : -1) : value;
  }

  // The bits of `integer` times a power of two, which the type holds exactly.
  __device__ __forceinline__ rc_u64 encode(rc_i64 integer, int exponent) const {
    if (exact.is_float == 0) return rc_u64(integer) << colour;
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

  __device__ __forceinline__ rc_u64 input(rc_u64 slot) const {
    const bool halved = exact.is_float != 0 && exact.op == PREMUL_SUM && slot < exact.members && slot % 2 == 0;
    return encode(integer(slot) * rc_i64(exact.unit), halved ? -1 : 0);
  }

  __device__ __forceinline__ rc_u64 reduced() const {
    rc_i64 total = 0;
    for (rc_u64 slot = 0; slot < exact.members; slot++) {
      const rc_i64 term = integer(slot) * (exact.is_float == 0 && exact.op == PREMUL_SUM && slot % 2 == 0 ? 2 : 1);
      switch (exact.op) {
        case MIN:
          total = slot == 0 || term < total ? term : total;
          break;
        case MAX:
          total = slot == 0 || term > total ? term : total;
          break;
        default:
          total += term;
      }
    }
    // Only an average's integers have a unit: the odd part of the number of members for floats, which
    // leaves powers of two to divide by, and all of it for integers.
    int halvings = 0;
    while (exact.op == AVG && exact.is_float != 0 && (exact.members >> halvings) % 2 == 0) halvings++;
    return encode(total, -halvings);
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
      const rc_u64 drawn = exact.integers >> 48 == 0 ? place & 0xffffffffffffull : mix(place);
      const ExactPlace elements = {exact, drawn % exact.integers, place >> 40,
                                   rc_u32(colour % exact.colours)};
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
