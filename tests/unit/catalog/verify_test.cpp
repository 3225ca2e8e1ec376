// SPDX-License-Identifier: Apache-2.0
#include <kymo_plugin.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "fixture.hpp"

namespace kymo::catalog::test {
namespace {
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Verify : public InFolder {
 protected:
  std::string refusal(const std::string& name) {
    return message_of([&] { verify_file(copy(name), false); });
  }
};

TEST_F(Verify, ReturnsTheIdentity) {
  const fs::path file = copy("probe");
  fs::create_symlink(file, folder_ / "link.so");
  const PluginFile found = verify_file(folder_ / "link.so", false);
  EXPECT_EQ(found.file, fs::canonical(file));
  EXPECT_EQ(found.abi_major, KYMO_ABI_MAJOR);
  EXPECT_EQ(found.framework, "");
}

TEST_F(Verify, NamesBothInterfaces) {
  EXPECT_THAT(refusal("wrong_major"), AllOf(HasSubstr("ABI 3.1"), HasSubstr("this kymo supports 2.1")));
  EXPECT_THAT(refusal("newer_minor"), AllOf(HasSubstr("ABI 2.2"), HasSubstr("this kymo supports 2.1")));
  EXPECT_THAT(refusal("older_major"), AllOf(HasSubstr("ABI 1.4"), HasSubstr("this kymo supports 2.1")));
}

TEST_F(Verify, RejectsOtherFrameworks) { EXPECT_THAT(refusal("unknown_framework"), HasSubstr("'tensorwind'")); }

/// The parts of a torch package that kymo reads.
fs::path fake_torch(const fs::path& folder, const std::string& version, const std::string& cuda) {
  fs::create_directories(folder / "torch" / "lib");
  write_file(folder / "torch" / "lib" / "libtorch_cpu.so", "");
  write_file(folder / "torch" / "lib" / "libtorch.so", "");
  write_file(folder / "torch" / "version.py", "__version__ = '" + version + "'\ncuda: Optional[str] = " +
                                                  (cuda.empty() ? "None" : "'" + cuda + "'") + "\n");
  return folder / "torch";
}

TEST_F(Verify, NamesBothVersionsOfLibTorch) {
  const ScopedEnvironment torch("KYMO_TORCH", fake_torch(folder_, "2.11.0+cu130", "13.0").string());
  EXPECT_THAT(refusal("wrong_framework"),
              AllOf(HasSubstr("LibTorch 1.0.0"), HasSubstr("2.11.0"), HasSubstr("KYMO_TORCH")));
}

TEST_F(Verify, TakesTheSameVersionOfLibTorch) {
  const ScopedEnvironment torch("KYMO_TORCH", fake_torch(folder_, "1.0.0+cu130", "13.0").string());
  EXPECT_EQ(verify_file(copy("wrong_framework"), false).framework_version, "1.0.0");
}

TEST_F(Verify, ComparesCudaVersions) {
  std::string bytes = read_file(plugin("wrong_framework"));
  const std::size_t note = bytes.find(std::string("kymo\0\0\0\0KYMOPLG", 15));
  ASSERT_NE(note, std::string::npos);
  bytes.replace(note + 8 + offsetof(kymo_note, cuda_version), 4, "12.8");
  write_file(folder_ / "cuda.so", bytes);
  {
    const ScopedEnvironment torch("KYMO_TORCH", fake_torch(folder_ / "a", "1.0.0", "13.0").string());
    EXPECT_THAT(message_of([&] { verify_file(folder_ / "cuda.so", false); }),
                AllOf(HasSubstr("CUDA 12.8"), HasSubstr("CUDA 13.0")));
  }
  const ScopedEnvironment torch("KYMO_TORCH", fake_torch(folder_ / "b", "1.0.0", "").string());
  EXPECT_THAT(message_of([&] { verify_file(folder_ / "cuda.so", false); }),
              AllOf(HasSubstr("CUDA 12.8"), HasSubstr("CPU only")));
}

TEST_F(Verify, SaysThatLibTorchIsMissing) {
  const ScopedEnvironment torch("KYMO_TORCH", (folder_ / "nowhere").string());
  EXPECT_THAT(refusal("wrong_framework"), AllOf(HasSubstr("requires LibTorch 1.0.0"), HasSubstr("KYMO_TORCH")));
}

TEST_F(Verify, RejectsWhatOthersMayWriteUnlessTrusted) {
  const fs::path file = copy("probe");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(message_of([&] { verify_file(file, false); }), AllOf(HasSubstr("world-writable"), HasSubstr("--trust")));
  EXPECT_EQ(verify_file(file, true).file, fs::canonical(file));
}

TEST_F(Verify, RejectsFoldersThatOthersMayWrite) {
  const fs::path file = copy("probe", "open/probe");
  fs::permissions(file.parent_path(), fs::perms::others_all | fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_THAT(message_of([&] { verify_file(file, false); }), HasSubstr("world-writable"));
  fs::create_symlink(file, folder_ / "link.so");
  EXPECT_THAT(message_of([&] { verify_file(folder_ / "link.so", false); }), HasSubstr("world-writable"))
      << "a link's target counts";
}

TEST_F(Verify, RejectsWhatIsNoFile) {
  EXPECT_THAT(message_of([&] { verify_file(folder_ / "absent.so", false); }), HasSubstr("no such file"));
  EXPECT_THAT(message_of([&] { verify_file(folder_, true); }), HasSubstr("not a regular file"));
  EXPECT_THAT(message_of([&] { verify_file(folder_ / "bad\nname.so", true); }), HasSubstr("bad\\nname"));
}

}  // namespace
}  // namespace kymo::catalog::test
