#include "connection/addresses.h"

#include <cstring>

namespace causeway {

void Addresses::add(const std::string& name, std::string_view address) {
  // Other lists that have them keep what they have.
  if (names_.use_count() > 1) names_ = std::make_shared<std::vector<std::string>>(*names_);
  names_->push_back(name);
  const auto length = static_cast<Length>(address.size());
  packed_.append(reinterpret_cast<const char*>(&length), sizeof length);
  packed_ += address;
}

std::string_view Addresses::at(size_t index) const {
  for (const char* at = packed_.data();; --index) {
    Length length;
    std::memcpy(&length, at, sizeof length);
    at += sizeof length;
    if (index == 0) return {at, length};
    at += length;
  }
}

std::optional<std::string_view> Addresses::find(std::string_view name) const {
  for (size_t i = 0; i < names_->size(); ++i)
    if ((*names_)[i] == name) return at(i);
  return std::nullopt;
}

std::string Addresses::list() const {
  std::string out;
  for (const std::string& name : *names_) out += name + ' ';
  return out;
}

void Addresses::share(const Addresses& other) {
  if (*names_ == *other.names_) names_ = other.names_;
  packed_.shrink_to_fit();
}

}  // namespace causeway
