#include "cli/table.h"

#include <gtest/gtest.h>

namespace headsplit::cli {
namespace {

TEST(Table, AlignsNumbersRightAndWordsLeft) {
  EXPECT_EQ(table_text({{"layout", "time us"}, {"tp1", "1200.5"}, {"tp4xdp2", "-"}}),
            "layout   time us\n"
            "----------------\n"
            "tp1       1200.5\n"
            "tp4xdp2        -\n");
}

TEST(Table, LeavesNoSpaceAtLineEnds) {
  EXPECT_EQ(table_text({{"a", "b"}, {"1", "x"}, {"2", "longer"}}), "a  b\n----\n1  x\n2  longer\n");
}

TEST(Table, WritesBytesInThreeFigures) {
  EXPECT_EQ(bytes_text(4.29e9), "4.29 GB");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(999.9e6), "1 GB");
}

}  // namespace
}  // namespace headsplit::cli
