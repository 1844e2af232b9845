//===- Commands.h - the subcommands ----------------------------------------------------------===//
#pragma once
#include <CLI/CLI.hpp>

namespace tokamak::tool {

// Each adds its subcommand to `app`; when the command line names it, parsing runs it and stores its exit
// status in `exitStatus`.
void addRun(CLI::App &app, int &exitStatus);
void addCompile(CLI::App &app, int &exitStatus);
void addExplain(CLI::App &app, int &exitStatus);
void addBench(CLI::App &app, int &exitStatus);
void addCalibrate(CLI::App &app, int &exitStatus);
void addVerify(CLI::App &app, int &exitStatus);
/// train, which is not there yet and says so.
void addPlanned(CLI::App &app, int &exitStatus);

} // namespace tokamak::tool
