# Textual tests: every test/**/*.mlir is one, with its commands in RUN lines. Files that tests only read stand in Inputs/.
import os

import lit.formats

config.name = "tokamak"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = config.source_root
config.test_exec_root = os.path.join(config.build_root, "lit")
# tokamak-opt and tokamak of this build; FileCheck and not of LLVM.
config.environment["PATH"] = os.pathsep.join(config.tools + [os.environ.get("PATH", "")])
