#include "tp/group/rank_shard.h"

#include <algorithm>

#include "core/check.h"
#include "tp/shard.h"

namespace headsplit::tp {
namespace {

using kernels::Problem;
using std::size_t;

std::int32_t pages_of(std::int32_t tokens, int page_tokens) {
  return (tokens + page_tokens - 1) / page_tokens;
}

/// Pages of a request, by position in it, that one context-parallel rank keeps.  Ascending.
std::vector<std::int32_t> kept_pages(std::int32_t pages, int cp, int cp_index, PageOrder order) {
  std::vector<std::int32_t> kept;
  if (order == PageOrder::interleaved) {
    for (std::int32_t page = cp_index; page < pages; page += cp) kept.push_back(page);
    return kept;
  }
  const auto begin = share_begin(pages, cp, cp_index);
  const auto end = share_begin(pages, cp, cp_index + 1);
  for (auto page = begin; page < end; ++page) kept.push_back(static_cast<std::int32_t>(page));
  return kept;
}

/// How many of the tokens on `kept` pages lie before position `end` of the request.
std::int32_t tokens_before(std::int32_t end, const std::vector<std::int32_t>& kept,
                           int page_tokens) {
  std::int32_t count = 0;
  for (const std::int32_t page : kept) {
    count += std::clamp(end - page * page_tokens, 0, page_tokens);
  }
  return count;
}

RankProblem shard_shape(const RankProblem& whole, const Layout& layout, const RankPlace& place) {
  RankProblem shape = whole;
  CHECK(whole.local_heads % layout.tp == 0);
  shape.local_heads = whole.local_heads / layout.tp;
  shape.batch = static_cast<int>(share(whole.batch, layout.dp, place.dp_index));
  return shape;
}

/// The rank's pages of one request, appended to `shard`.
struct RequestPages {
  std::int32_t length = 0;          ///< tokens on them
  std::vector<std::int32_t> whole;  ///< in the whole problem's cache
};

RequestPages add_request(const Problem& whole, int request, const Layout& layout, int cp_index,
                         PageOrder order, std::vector<std::int32_t>& ends) {
  const std::int32_t length = whole.lengths[size_t(request)];
  const auto kept = kept_pages(pages_of(length, whole.page_tokens), layout.cp, cp_index, order);
  RequestPages pages{.length = tokens_before(length, kept, whole.page_tokens)};
  for (const std::int32_t page : kept) {
    const auto entry = std::int64_t{request} * whole.pages_per_request + page;
    pages.whole.push_back(whole.page_table[size_t(entry)]);
  }
  for (int token = 0; token < whole.shape.query_tokens; ++token) {
    ends.push_back(tokens_before(whole.attended(request, token), kept, whole.page_tokens));
  }
  return pages;
}

}  // namespace

Problem rank_shard(const Problem& whole, const Layout& layout, int rank, PageOrder order) {
  const RankPlace place = rank_place(layout, rank);
  Problem shard;
  shard.shape = shard_shape(whole.shape, layout, place);
  shard.page_tokens = whole.page_tokens;
  shard.softmax_scale = whole.softmax_scale;
  shard.seed = whole.seed;
  shard.source.heads = whole.shape.local_heads;
  shard.source.first_head = place.tp_index * shard.shape.local_heads;
  shard.source.first_request =
      static_cast<int>(share_begin(whole.shape.batch, layout.dp, place.dp_index));
  std::vector<RequestPages> requests;
  size_t columns = 1;
  for (int i = 0; i < shard.shape.batch; ++i) {
    requests.push_back(add_request(whole, shard.source.first_request + i, layout, place.cp_index,
                                   order, shard.ends));
    columns = std::max(columns, requests.back().whole.size());
  }
  // Where the context is whole, so is the rule of the masks.
  if (layout.cp == 1 || whole.shape.query_tokens == 1) shard.ends.clear();
  shard.pages_per_request = static_cast<int>(columns);
  shard.shape.context = 0;
  shard.page_table.assign(requests.size() * columns, kernels::kUnusedPage);
  // Page 0 belongs to nobody: a kernel that strays finds NaN there.
  shard.source.pages.push_back(0);
  for (size_t i = 0; i < requests.size(); ++i) {
    shard.lengths.push_back(requests[i].length);
    shard.shape.context = std::max<std::int64_t>(shard.shape.context, requests[i].length);
    for (size_t column = 0; column < requests[i].whole.size(); ++column) {
      shard.page_table[i * columns + column] = static_cast<std::int32_t>(shard.source.pages.size());
      shard.source.pages.push_back(requests[i].whole[column]);
    }
  }
  shard.page_count = static_cast<std::int32_t>(shard.source.pages.size());
  return shard;
}

}  // namespace headsplit::tp
