#include "core/markup.h"

#include <gtest/gtest.h>

namespace headsplit {
namespace {

TEST(Markup, IsTextAndNothingElse) {
  EXPECT_EQ(markup_text("<b a=\"1\">&amp;</b>"), "&lt;b a=&quot;1&quot;&gt;&amp;amp;&lt;/b&gt;");
  EXPECT_EQ(markup_text("two\nlines, a bell\a and \xC3\xA9"), "two lines, a bell  and \xC3\xA9");
}

}  // namespace
}  // namespace headsplit
