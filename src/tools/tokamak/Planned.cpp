//===- Planned.cpp - subcommands of the contract that are not there yet ---------------------------===//
#include "Commands.h"
#include "Options.h"

namespace tokamak::tool {

void addPlanned(CLI::App &app, int &exitStatus) {
  CLI::App *command = app.add_subcommand("train", "Compile and run training steps (not there yet)");
  command->allow_extras();
  command->callback([&exitStatus] { exitStatus = report({StatusCode::Misuse, "'train' is not there yet"}); });
}

} // namespace tokamak::tool
