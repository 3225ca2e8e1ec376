// SPDX-License-Identifier: Apache-2.0
#include "store/mapped_stream.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/file.hpp"
#include "unit/hang.hpp"
#include "unit/store/fixture.hpp"

namespace kymo::store::testing {
namespace {

constexpr std::size_t kChunk = MappedStream::kChunkBytes;

class Stream : public StoreTest {
 protected:
  using Blocks = std::vector<std::vector<std::byte>>;

  std::filesystem::path file() const { return path("stream"); }
  /// `words` words of 8 bytes, none of them 0, that depend on `seed`.
  static std::vector<std::byte> block(std::size_t words, std::uint64_t seed) {
    std::vector<std::uint64_t> numbers(words);
    for (std::size_t i = 0; i < words; ++i) numbers[i] = seed << 32 | (i + 1);
    const auto bytes = std::as_bytes(std::span(numbers));
    return {bytes.begin(), bytes.end()};
  }
  /// Expects the file to contain these blocks, followed by zeros.
  void expect(const Blocks& blocks) const {
    const std::string content = read_file(file());
    EXPECT_EQ(content.size() % kChunk, 0);
    std::size_t at = 0;
    for (const auto& each : blocks) {
      ASSERT_LE(at + each.size(), content.size());
      EXPECT_EQ(std::memcmp(content.data() + at, each.data(), each.size()), 0) << "block at " << at;
      at += each.size();
    }
    EXPECT_EQ(content.find_first_not_of('\0', at), std::string::npos);
  }
};

TEST_F(Stream, AppendsAcrossChunks) {
  MappedStream stream(file());
  // Within a chunk, up to its end, over several chunks, across one boundary.
  const std::size_t words = kChunk / 8;
  const Blocks blocks{block(3, 1), block(words - 3, 2), block(3 * words + 5, 3), block(1, 4), block(words, 5)};
  for (const auto& each : blocks) EXPECT_TRUE(stream.append(each));
  expect(blocks);
}

TEST_F(Stream, OutlivesAKilledProcess) {
  const Blocks blocks{block(kChunk / 8 + 7, 1), block(11, 2)};
  const int status = in_child([&] {
    MappedStream stream(file());
    for (const auto& each : blocks)
      if (!stream.append(each)) return 1;
    return raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  expect(blocks);
}

TEST_F(Stream, AChildOfTheProcessAppendsNothing) {
  const Blocks blocks{block(4, 1), block(5, 2)};
  auto stream = std::make_unique<MappedStream>(file());
  EXPECT_TRUE(stream->append(blocks[0]));
  const int status = in_child([&] {
    alarm(static_cast<unsigned>(kymo::kHang.count()));
    const bool appended = stream->append(block(9, 7));
    stream.reset();
    return appended ? 1 : 0;
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(stream->append(blocks[1]));
  expect(blocks);
}

TEST_F(Stream, LeavesAnExistingFileAlone) {
  const Blocks blocks{block(4, 1)};
  MappedStream stream(file()), other(file());
  EXPECT_TRUE(stream.append(blocks[0]));
  EXPECT_FALSE(other.append(block(4, 2)));
  expect(blocks);
  std::filesystem::remove(file());
  EXPECT_FALSE(other.append(block(4, 2))) << "an append that failed is the last one";
}

TEST_F(Stream, LeavesAFileThatReplacedItAlone) {
  MappedStream stream(file());
  EXPECT_TRUE(stream.append(block(4, 1)));
  std::filesystem::remove(file());
  const Blocks of_the_other{block(6, 2)};
  MappedStream other(file());
  EXPECT_TRUE(other.append(of_the_other[0]));
  // The next chunk may have been mapped before.
  bool appended = true;
  for (int i = 0; i < 3 && appended; ++i) appended = stream.append(block(kChunk / 8, 3));
  EXPECT_FALSE(appended);
  expect(of_the_other);
}

TEST_F(Stream, StopsWhereTheFileWasTruncated) {
  const Blocks blocks{block(4, 1)};
  MappedStream stream(file());
  EXPECT_TRUE(stream.append(blocks[0]));
  std::filesystem::resize_file(file(), 0);
  bool appended = true;
  for (int i = 0; i < 3 && appended; ++i) appended = stream.append(block(kChunk / 8, 2));
  EXPECT_FALSE(appended);
  EXPECT_FALSE(stream.append(blocks[0]));
}

TEST_F(Stream, StopsWhereTheFileCannotGrow) {
  const int status = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{2 * kChunk, 2 * kChunk};
    setrlimit(RLIMIT_FSIZE, &limit);
    MappedStream stream(file());
    const bool fits = stream.append(block(kChunk / 8, 1)) && stream.append(block(kChunk / 8, 2));
    return !fits ? 1 : stream.append(block(1, 3)) ? 2 : 0;
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  expect({block(kChunk / 8, 1), block(kChunk / 8, 2)});
}

}  // namespace
}  // namespace kymo::store::testing
