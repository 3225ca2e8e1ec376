# SPDX-License-Identifier: Apache-2.0
"""Libraries that LD_PRELOAD adds to a worker change what the system tells it and its supervisor."""

import subprocess
import unittest

from kymo_tool import SAXPY, KymoTest

IN_WORKER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>
static int in_worker(void) {
  char words[4096] = {0};
  FILE* file = fopen("/proc/self/cmdline", "r");
  if (!file) return 0;
  fread(words, 1, sizeof words - 1, file);
  fclose(file);
  return strcmp(words + strlen(words) + 1, "worker") == 0;
}
"""
CLOCK = r"""
static int reversed = -1;
int clock_gettime(clockid_t id, struct timespec* time) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  if (reversed < 0) reversed = in_worker();
  const int result = real(id, time);
  if (id != CLOCK_MONOTONIC_RAW || !reversed) return result;
  time->tv_sec = 1000000000 - time->tv_sec;
  time->tv_nsec = 999999999 - time->tv_nsec;
  return result;
}
"""
STOP = r"""
__attribute__((constructor)) static void stop(void) {
  if (!in_worker()) return;
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  raise(SIGWINCH);
}
"""


class PreloadTest(KymoTest):
    def run_with(self, code, source):
        library = self.folder / "preload.so"
        command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library), "-ldl"]
        subprocess.run(command, input=IN_WORKER + source, text=True, check=True, stderr=subprocess.DEVNULL)
        self.environment["LD_PRELOAD"] = str(library)
        self.kymo("run", SAXPY, "--steps", "2", "--no-verify", code=code)
        return self.rows("SELECT status, detail FROM run")

    def test_a_clock_that_goes_backwards_fails_the_run(self):
        ((status, detail),) = self.run_with(3, CLOCK)
        self.assertEqual(status, "failed")
        self.assertIn("went backwards", detail)

    def test_a_stop_of_a_traced_worker_is_not_its_end(self):
        self.assertEqual(self.run_with(0, STOP), [("ok", "")])

    def test_the_environment_states_the_library(self):
        self.run_with(0, "")
        stored = self.rows("SELECT value FROM environment WHERE name = 'LD_PRELOAD'")
        self.assertEqual(stored, [(str(self.folder / "preload.so"),)])


if __name__ == "__main__":
    unittest.main()
