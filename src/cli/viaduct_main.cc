#include <string>
#include <vector>

#include "cli/command.h"

int main(int argc, char** argv) {
  return viaduct::cli::Main(std::vector<std::string>(argv, argv + argc));
}
