//===- Main.cpp - the tokamak command ---------------------------------------------------------===//
#include "Commands.h"
#include "Options.h"
#include "WriteText.h"
#include "driver/Reproducer.h"
#include "tokamak/tokamak.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sstream>

/// "'WORD' is no command; the commands are run, compile, ..." where the first word names none; else empty.
static std::string unknownCommand(const CLI::App &app, int argc, char **argv) {
  char **word = std::find_if(argv + 1, argv + argc, [](const char *argument) { return argument[0] != '-'; });
  if (!app.get_subcommands().empty() || word == argv + argc)
    return "";
  std::string names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names += (names.empty() ? "" : ", ") + command->get_name();
  return "'" + std::string(*word) + "' is no command; the commands are " + names;
}

/// Parse errors end in one line and status 2; --help and --version in status 0 once their text is written.
static int parseFault(const CLI::App &app, const CLI::ParseError &error, int argc, char **argv) {
  if (error.get_exit_code() == 0) {
    std::ostringstream text;
    app.exit(error, text, text);
    return tokamak::tool::report(tokamak::tool::writeText("", text.str()));
  }
  const CLI::App *command = &app;
  for (const CLI::App *used : app.get_subcommands())
    command = used;
  std::string message = unknownCommand(app, argc, argv);
  if (message.empty())
    message = error.what();
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
  tokamak::tool::addCalibrate(app, exitStatus);
  tokamak::tool::addVerify(app, exitStatus);
  tokamak::tool::addPlanned(app, exitStatus);
  // A crash ends in one line and status 3, like other faults of ours. Exceptions end inside: the code that
  // contains crashes does not let them through.
  bool finished = tokamak::driver::runContained([&] {
    try {
      app.parse(argc, argv);
    } catch (const CLI::RuntimeError &error) { // --list-passes has ended the command
      exitStatus = error.get_exit_code();
    } catch (const CLI::ParseError &error) {
      exitStatus = parseFault(app, error, argc, argv);
    } catch (const std::bad_alloc &) {
      exitStatus = tokamak::tool::report({tokamak::StatusCode::InvalidInput, "out of memory"});
    }
  });
  if (!finished) {
    tokamak::tool::report({tokamak::StatusCode::Internal,
                           "tokamak crashed; this is a fault in Tokamak, please report "
                           "it with the model and the command line"});
    // Not exit: threads and destructors may wait for what the crash left half done.
    std::_Exit(3);
  }
  return exitStatus;
}
