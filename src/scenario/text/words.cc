#include "scenario/text/words.h"

#include <fmt/format.h>

#include "base/error.h"

namespace viaduct::scenario {
namespace {

constexpr std::string_view kOperators = "|&;<>()$`*?";
constexpr std::string_view kSafe =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<std::string> Split() {
    while (position_ < text_.size()) Take(text_[position_++]);
    Finish();
    return std::move(words_);
  }

 private:
  void Take(char c) {
    if (c == ' ' || c == '\t' || c == '\n') {
      Finish();
    } else if (c == '\'' || c == '"') {
      Quoted(c);
    } else if (c == '\\') {
      if (position_ == text_.size()) throw UsageError("a command cannot end in '\\'");
      Add(text_[position_++]);
    } else if (kOperators.find(c) != std::string_view::npos ||
               (!in_word_ && (c == '#' || c == '~'))) {
      throw UsageError(fmt::format(
          "'{}' in a command needs a shell; quote the character, or write [sh, -c, \"...\"]", c));
    } else {
      Add(c);
    }
  }

  void Quoted(char quote) {
    in_word_ = true;
    while (position_ < text_.size()) {
      char c = text_[position_++];
      if (c == quote) return;
      const bool escape =
          quote == '"' && c == '\\' && position_ < text_.size() &&
          std::string_view("\"\\$`").find(text_[position_]) != std::string_view::npos;
      if (escape) c = text_[position_++];
      Add(c);
    }
    throw UsageError(fmt::format("a command contains an unterminated quote {}", quote));
  }

  void Add(char c) {
    in_word_ = true;
    word_ += c;
  }

  void Finish() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  size_t position_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> SplitWords(std::string_view text) { return Splitter(text).Split(); }

std::string JoinWords(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(kSafe) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    line += '\'';
  }
  return line;
}

}  // namespace viaduct::scenario
