/* An all-gather of forked processes in C: every rank is a child that writes into all heaps.
 *
 *   cc all_gather.c $(pkg-config --cflags --libs rankcheck) -o all_gather
 *   ./all_gather ../numpy/all_gather.yaml
 *
 * A second argument makes it wrong: `tail` leaves out the last column of every row. */
#include <rankcheck_host.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *heaps[RANKCHECK_MAX_RANKS];

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, rankcheck_error());
  exit(2);
}

/* The "kernel" of one rank: its rows go to its place in every member's output. */
static void all_gather(const rankcheck_call_info *info, const rankcheck_region_info *in,
                       const rankcheck_region_info *out, uint32_t rank, int tail) {
  uint32_t place = 0;
  while (info->group[place] != rank) place++;
  const uint64_t bytes = (in->columns - (tail ? 1 : 0)) * in->element_bytes;
  for (uint32_t member = 0; member < info->group_size; member++)
    for (uint64_t row = 0; row < in->rows; row++) {
      const char *from = (char *)heaps[rank] + in->offset + row * in->row_stride * in->element_bytes;
      char *to = (char *)heaps[info->group[member]] + out->offset +
                 (place * in->rows + row) * out->row_stride * out->element_bytes;
      memcpy(to, from, bytes);
    }
}

static void one_call(rankcheck *session, const rankcheck_call_info *info, uint32_t call, int tail) {
  rankcheck_region_info in = {.size = sizeof in}, out = {.size = sizeof out};
  if (rankcheck_region(session, call, 0, "input", &in) != 0) fail("input");
  if (rankcheck_region(session, call, 0, "output", &out) != 0) fail("output");
  for (uint32_t i = 0; i < info->run_size; i++) {
    const pid_t child = fork();
    if (child == 0) {
      all_gather(info, &in, &out, info->run[i], tail);
      _exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) exit(3);
    const rankcheck_launch launch = {
        .size = sizeof launch, .tile_m = info->tile_m, .tile_n = info->tile_n, .entry = "all_gather"};
    if (rankcheck_launched(session, info->run[i], &launch) != 0) fail("launched");
  }
}

/* Every call in every order of ranks; a wrong call ends its order. */
static void one_case(rankcheck *session, int tail) {
  rankcheck_call_info info = {.size = sizeof info};
  if (rankcheck_call(session, 0, 0, &info) != 0) fail("call");
  for (uint32_t rank = 0; rank < info.world; rank++)
    if (!(heaps[rank] = rankcheck_heap(session, rank, NULL, 0, NULL))) fail("heap");
  for (uint32_t order = 0; order < info.orders; order++)
    for (uint32_t call = 0; call < info.calls; call++) {
      if (rankcheck_call(session, order, call, &info) != 0) fail("call");
      if (rankcheck_fill(session, order, call) != 0) fail("fill");
      one_call(session, &info, call, tail);
      const int right = rankcheck_judge(session);
      if (right < 0) fail("judge");
      if (!right) break;
    }
}

int main(int count, char **words) {
  if (count < 2) {
    fprintf(stderr, "usage: %s SCENARIO [tail]\n", words[0]);
    return 2;
  }
  const int tail = count > 2 && strcmp(words[2], "tail") == 0;
  const char *arguments[] = {words[1], NULL};
  rankcheck *session = rankcheck_open(arguments);
  if (!session) fail("open");
  int failed = 0;
  const char *name;
  for (size_t i = 0; (name = rankcheck_name(session, i)); i++) {
    const int opened = rankcheck_case(session, name, NULL, NULL);
    if (opened < 0) fail(name);
    if (opened == 1) {
      printf("SKIP %s  %s\n", name, rankcheck_error());
      continue;
    }
    one_case(session, tail);
    const char *verdict = rankcheck_text(session, "verdict");
    if (!verdict) fail("verdict");
    failed |= strncmp(verdict, "PASS", 4) != 0;
    fputs(verdict, stdout);
  }
  rankcheck_close(session);
  return failed;
}
