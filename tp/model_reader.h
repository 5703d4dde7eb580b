#pragma once

#include <string>

#include "core/result.h"
#include "tp/model.h"

namespace headsplit::tp {

/// A model from the text of a Hugging Face config.json (or a Mistral params.json).  `file` is only
/// named in errors.  Knows the text_config nesting, null query ranks, RoPE width 0, hybrids with
/// linear attention, two attentions a layer, and the other spellings of the field.
/// Fails: config, one line with file, line and field.
/// Source: the reader rules of docs/model.md.
Result<Model> model_from_config(const std::string& text, const std::string& file);

}  // namespace headsplit::tp
