/* librankcheck: have the collective kernels of your own program judged, byte by byte.
 *
 * A session lists cases (scenarios in YAML, as `rankcheck list --mode host` shows them). For each
 * case: give every rank a heap, then for every order of ranks and every call fill, launch your
 * kernels as you always do, say what you launched, and judge. The judge is another process, which
 * this library starts (`rankcheck`, beside the library, named in RANKCHECK, or in PATH).
 *
 *   const char *arguments[] = {"scenarios/mine.yaml", NULL};
 *   rankcheck *session = rankcheck_open(arguments);
 *   for (size_t i = 0; (name = rankcheck_name(session, i)); i++) {
 *     if (rankcheck_case(session, name, NULL, NULL) != 0) continue;           // 1: unsupported
 *     for (rank ...) heap[rank] = rankcheck_heap(session, rank, NULL, 0, NULL);
 *     for (order ...) for (call ...) {
 *       rankcheck_fill(session, order, call);
 *       for (rank in info.run) { your_kernel(heap[rank] + input.offset, ...); rankcheck_launched(...); }
 *       if (rankcheck_judge(session) != 1) break;                              // 0: wrong
 *     }
 *     fputs(rankcheck_text(session, "verdict"), stdout);
 *   }
 *   rankcheck_close(session);
 *
 * One process may have all ranks of a case, or each rank is a process: started by `rankcheck exec`,
 * torchrun, mpirun or srun, a process has the rank that its environment says (RANK and WORLD_SIZE,
 * or what MPI and Slurm set). Then fill and judge wait for all ranks, and each process gives its own
 * heap only. Processes that a program forks may use the heaps, but not the session.
 *
 * Functions return NULL or -1 where they fail; rankcheck_error() says why. A session may be used from
 * any thread, one call at a time. Link with -lrankcheck (pkg-config rankcheck). */
#ifndef RANKCHECK_HOST_H
#define RANKCHECK_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RANKCHECK_MAX_RANKS 64
#define RANKCHECK_NAME 32
#define RANKCHECK_ALL UINT32_MAX

typedef struct rankcheck rankcheck;

/* One call of the open case. `size` is set by the caller, in all structures. */
typedef struct {
  uint32_t size;                         /* sizeof(rankcheck_call_info) */
  uint32_t world;                        /* ranks */
  uint32_t calls;                        /* calls of the case, on the same heaps */
  uint32_t orders;                       /* orders of ranks; each runs all calls */
  uint32_t group_size;                   /* ranks that take part in this call */
  uint32_t group[RANKCHECK_MAX_RANKS];   /* by group rank: the rank */
  uint32_t run_size;                     /* ranks of the group that this process runs */
  uint32_t run[RANKCHECK_MAX_RANKS];     /* those, in the order in which to run them */
  uint32_t rank;                         /* this process's rank, or RANKCHECK_ALL */
  uint32_t root;                         /* group rank of the root, for rooted collectives */
  uint32_t element_bytes;
  uint32_t blocks, threads;              /* asked for; 0: the program's own choice */
  uint64_t tile_m, tile_n;               /* asked for; 0: the program's own choice */
  uint64_t m, n;                         /* the scenario's shape */
  uint64_t heap_bytes;                   /* of every rank's heap */
  char collective[RANKCHECK_NAME];       /* "all_gather" */
  char dtype[RANKCHECK_NAME];            /* "bf16" */
  char op[RANKCHECK_NAME];               /* "sum" */
} rankcheck_call_info;

/* Where a region lies in a rank's heap during a call. */
typedef struct {
  uint32_t size;                         /* sizeof(rankcheck_region_info) */
  uint32_t element_bytes;
  uint64_t offset;                       /* bytes from the heap's start to element (0, 0) */
  uint64_t rows, columns, row_stride;    /* in elements */
  uint64_t storage_offset, storage_bytes;
} rankcheck_region_info;

/* What a rank launched. Leave at 0 or NULL what your kernel does not have; what the scenario asked
 * for must be said, and a difference fails the case. */
typedef struct {
  uint32_t size;                         /* sizeof(rankcheck_launch) */
  uint32_t blocks, threads, group_size;
  uint64_t tile_m, tile_n;
  const char *entry;
} rankcheck_launch;

/* Why this thread's last call failed, or why a case is unsupported. Valid until its next call. */
const char *rankcheck_error(void);

/* Starts or finds the judge and lists cases. `arguments` are those of `rankcheck list` and end with
 * NULL: scenario files or folders, -E EXPRESSION, -k TEXT, --id ID, --ranks N, --kernels DIR. A first
 * argument "--alone" means that all ranks are in this process, whatever the environment says. Under
 * `rankcheck exec` the cases are those of its command line. */
rankcheck *rankcheck_open(const char *const *arguments);

/* Ends the open case and the session. NULL is allowed. */
void rankcheck_close(rankcheck *session);

/* The name of case `index`, from 0; NULL behind the last. Valid until the session is closed. */
const char *rankcheck_name(rankcheck *session, size_t index);

/* Opens a case and ends the one before: 0, or 1 where it is unsupported. `program` (the file that is
 * judged) and `replay` (a command that runs the case again) stand in reports and may be NULL. */
int rankcheck_case(rankcheck *session, const char *name, const char *program, const char *replay);

/* Describes a call in one of the orders of ranks: 0. */
int rankcheck_call(rankcheck *session, uint32_t order, uint32_t call, rankcheck_call_info *out);

/* Where "input", "output" or "workspace.NAME" lies in a rank's heap: 0. */
int rankcheck_region(rankcheck *session, uint32_t call, uint32_t rank, const char *name,
                     rankcheck_region_info *out);

/* Gives a rank its heap, before the first fill. With `base` NULL the library gives memory that the
 * judge shares: nothing is ever copied, forked processes see it too, and the heaps of other ranks'
 * processes can be had in the same way. Else `base` is the program's own memory of `bytes` bytes, at
 * least heap_bytes, alive until the case is over; its image is copied once after each call. `peers`
 * is NULL, or where this rank finds every rank's heap: its own entry must be `base`. Device memory:
 * take the library's, and copy to and from it. Returns the heap's address. */
void *rankcheck_heap(rankcheck *session, uint32_t rank, void *base, uint64_t bytes,
                     const uint64_t *peers);

/* Fills the heaps of this process's ranks for a call (inputs, and poison everywhere else), and waits
 * until all ranks have: 0. Calls come in order, from 0, once for every order of ranks; after a wrong
 * call, begin the next order. */
int rankcheck_fill(rankcheck *session, uint32_t order, uint32_t call);

/* Says what a rank of the group launched in the call: 0. */
int rankcheck_launched(rankcheck *session, uint32_t rank, const rankcheck_launch *launch);

/* Waits until all ranks have returned from the call, hands the heaps over and has every byte of them
 * judged: 1 right, 0 wrong. */
int rankcheck_judge(rankcheck *session);

/* About the open case: "verdict" (for people), "json" (rankcheck.run/1) or "describe" (the problem as
 * JSON). Valid until the next call of this function. */
const char *rankcheck_text(rankcheck *session, const char *what);

#ifdef __cplusplus
}
#endif

#endif
