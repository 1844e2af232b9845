//===- Planned.cpp - subcommands of the contract that are not there yet ---------------------------===//
#include "Commands.h"
#include "Options.h"

namespace tokamak::tool {

void addPlanned(CLI::App &app, int &exitStatus) {
  for (auto [name, purpose] :
       {std::pair("verify", "Compare a compiled model with the reference evaluator (not there yet)"),
        std::pair("train", "Compile and run training steps (not there yet)")}) {
    CLI::App *command = app.add_subcommand(name, purpose);
    command->allow_extras();
    command->callback([name = std::string(name), &exitStatus] {
      exitStatus = report({StatusCode::Misuse, "'" + name + "' is not there yet"});
    });
  }
}

} // namespace tokamak::tool
