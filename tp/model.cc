#include "tp/model.h"

#include "core/nearest.h"

namespace headsplit::tp {

std::vector<int> legal_tp_sizes(const Model& model) {
  std::vector<int> sizes;
  for (int size = 1; size <= model.heads; ++size) {
    if (model.heads % size != 0) continue;
    const bool splits = model.kv_heads % size == 0 || size % model.kv_heads == 0;
    if (splits) sizes.push_back(size);
  }
  return sizes;
}

std::string legal_tp_text(const Model& model) {
  std::vector<std::string> words;
  for (const int size : legal_tp_sizes(model)) words.push_back(std::to_string(size));
  return joined(words);
}

}  // namespace headsplit::tp
