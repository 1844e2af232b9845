//===- Main.cpp - the tokamak command ---------------------------------------------------------===//
#include "Commands.h"
#include "tokamak/tokamak.h"
#include <cstdio>
#include <new>

/// Parse errors end in one line and status 2; --help, --version and --list-passes in status 0.
static int parseFault(const CLI::App &app, const CLI::ParseError &error) {
  if (error.get_exit_code() == 0)
    return app.exit(error);
  const CLI::App *command = &app;
  for (const CLI::App *used : app.get_subcommands())
    command = used;
  std::string message = error.what();
  for (char &c : message) {
    if (c == '\n')
      c = ' ';
  }
  std::string name = command == &app ? "tokamak" : "tokamak " + command->get_name();
  std::fprintf(stderr, "tokamak: error: %s; see %s --help\n", message.c_str(), name.c_str());
  return 2;
}

int main(int argc, char **argv) {
  CLI::App app("Compiles ONNX models into fused native kernels, runs them, and explains what was fused.",
               "tokamak");
  app.set_version_flag("--version", std::string("tokamak ") + tokamak_version());
  app.require_subcommand(1);
  app.footer("Exit status: 0 good, 1 the input is at fault, 2 a wrong command line, 3 a fault of tokamak.\n"
             "tokamak COMMAND --help describes a command.");
  int exitStatus = 0;
  tokamak::tool::addRun(app, exitStatus);
  tokamak::tool::addCompile(app, exitStatus);
  tokamak::tool::addExplain(app, exitStatus);
  tokamak::tool::addBench(app, exitStatus);
  tokamak::tool::addPlanned(app, exitStatus);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return parseFault(app, error);
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "tokamak: error: out of memory\n");
    return 1;
  }
  return exitStatus;
}
