#include "tools/kernelgen/process.h"

#include <chrono>
#include <cstdio>

#include "tools/kernelgen/error.h"

#ifdef _WIN32
#include <process.h>
#else
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
extern char** environ;
#endif

namespace kernelgen {

#ifdef _WIN32

unsigned processId() { return unsigned(_getpid()); }

ProcessResult runProcess(const std::vector<std::string>& arguments) {
  // The outer quotes are for cmd.exe, which takes one pair away.
  std::string command = "\"";
  for (const std::string& argument : arguments) command += "\"" + argument + "\" ";
  command += "2>&1\"";
  const auto start = std::chrono::steady_clock::now();
  FILE* pipe = _popen(command.c_str(), "rb");
  if (!pipe) throw Error("The program " + arguments[0] + " cannot be started.");
  ProcessResult result;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) result.output.append(buffer, count);
  result.exitCode = _pclose(pipe);
  result.cpuSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

#else

unsigned processId() { return unsigned(getpid()); }

ProcessResult runProcess(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  // Close-on-exec: a program started by another thread must not keep this pipe open.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(std::string("A pipe cannot be made: ") + std::strerror(errno) + ".");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int started = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (started != 0) {
    close(ends[0]);
    throw Error("The program " + arguments[0] + " cannot be started: " + std::strerror(started) + ".");
  }

  ProcessResult result;
  char buffer[4096];
  for (;;) {
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    if (count > 0) {
      result.output.append(buffer, size_t(count));
    } else if (count == 0 || errno != EINTR) {
      break;
    }
  }
  close(ends[0]);
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + 1e-6 * double(time.tv_usec); };
  result.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return result;
}

#endif

}  // namespace kernelgen
