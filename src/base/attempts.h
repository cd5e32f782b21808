// Runs several actions, each of them whether or not the others fail, and collects their errors.
#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace viaduct {

class Attempts {
 public:
  // Calls `what` and keeps the message of the exception, if `what` throws one.
  template <class F>
  void Try(F what) {
    try {
      what();
    } catch (const std::exception& error) {
      troubles_ += (troubles_.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  // Throws an Error with all kept messages, if there are any.
  void Finish() const {
    if (!troubles_.empty()) throw Error(troubles_);
  }

 private:
  std::string troubles_;
};

}  // namespace viaduct
