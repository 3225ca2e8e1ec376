// SPDX-License-Identifier: Apache-2.0
#include "analysis/kernel_class.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kymo::analysis {
namespace {

using testing::HasSubstr;

struct Known {
  const char* name;
  const char* kernel_class;
  const char* short_name;
};

#define KYMO_LAMBDA "(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda(float)#1}"

// Demangled symbols of LibTorch 2.11, cuBLAS 13, cuDNN 9 and NCCL 2.28.
const Known kKnown[] = {
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NNT", "matmul", "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NNT"},
    {"ampere_sgemm_128x64_tn", "matmul", "ampere_sgemm_128x64_tn"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__"
     "5x_cublas",
     "matmul", nullptr},
    {"void "
     "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_64x1_tn_align8>(cutlass_80_wmma_tensorop_"
     "bf16_s161616gemm_"
     "bf16_32x32_64x1_tn_align8::Params)",
     "matmul", nullptr},
    {"void "
     "cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<cutlass::gemm::kernel::GemmUniversal<cute::"
     "tuple<int> > > "
     ">(int)",
     "matmul", "GemmUniversal"},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, "
     "__nv_bfloat16>(cublasLt::cublasSplitKParams<float>)",
     "matmul", "splitKreduce_kernel"},
    {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, __nv_bfloat16, float>(int)",
     "matmul", "gemvx::kernel"},
    {"void dot_kernel<float, 128, 0, cublasDotParams<float> >(cublasDotParams<float>)", "matmul", "dot_kernel"},
    {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 8, false, false>(float*, float const*, "
     "int, int, int)",
     "softmax", "softmax_warp_forward"},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForwardSmem<4, c10::BFloat16, float, float, "
     "at::native::(anonymous "
     "namespace)::LogSoftMaxForwardEpilogue, long>(float*, c10::BFloat16 const*, long)",
     "softmax", "cunn_SoftMaxForwardSmem log"},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, float, at::native::(anonymous "
     "namespace)::SoftMaxBackwardEpilogue>(float*, float const*, float const*, long)",
     "softmax", "cunn_SoftMaxBackward"},
    {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
     "cutlass::bfloat16_t>, "
     "true>(pytorch_flash::Flash_fwd_params)",
     "attention", "flash_fwd_kernel"},
    {"fmha_cutlassB_bf16_aligned_64x64_k32_sm80(PyTorchMemEffAttention::AttentionBackwardKernel<cutlass::arch::Sm80, "
     "cutlass::bfloat16_t, "
     "true>::Params)",
     "attention", "fmha_cutlassB_bf16_aligned_64x64_k32_sm80"},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x128x128_4x1x1_kernel0_0", "attention",
     nullptr},
    {"void kymo::flash::forward_combine<__nv_bfloat16, 64>(kymo::flash::CombineCall)", "attention", nullptr},
    {"void kymo::layers::(anonymous namespace)::rms_norm_backward<float, float, float, 1>("
     "kymo::layers::RmsNormBackward)",
     "normalization", nullptr},
    {"void kymo::layers::(anonymous namespace)::swiglu<__nv_bfloat16>(kymo::layers::SwiGlu)", "elementwise", nullptr},
    {"void kymo::layers::(anonymous namespace)::rotary<__nv_bfloat16>(kymo::layers::Rotary)", "elementwise", nullptr},
    {"kymo::layers::(anonymous namespace)::adamw_count(kymo::layers::(anonymous namespace)::Table)", "optimizer",
     nullptr},
    {"void kymo::layers::(anonymous namespace)::cross_entropy<__nv_bfloat16, true>(kymo::layers::CrossEntropy)",
     "reduction", nullptr},
    {"void kymo::flash::gradients_out<__half, 128>(kymo::flash::Backward, float const*, float const*, int)",
     "attention", nullptr},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> "
     ">(int, "
     "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
     "elementwise", "elementwise add"},
    {"void at::native::vectorized_elementwise_kernel<2, at::native::BinaryFunctor<float, float, float, "
     "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)",
     "elementwise", "elementwise mul"},
    {"void at::native::elementwise_kernel<128, 4, "
     "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda" KYMO_LAMBDA
     ">(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
     "elementwise", "elementwise direct_copy"},
    {"void at::native::vectorized_elementwise_kernel<2, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
     "at::native::GeluType)::{lambda()#1}::operator()() const::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
     "elementwise", "elementwise gelu"},
    {"void at::native::vectorized_elementwise_kernel<2, at::native::(anonymous namespace)::silu_kernel" KYMO_LAMBDA
     ">(int)",
     "elementwise", "elementwise silu"},
    {"void at::native::unrolled_elementwise_kernel<at::native::FillFunctor<int>, std::array<char*, 1ul>, 4, "
     "TrivialOffsetCalculator<1, "
     "unsigned "
     "int> >(int)",
     "elementwise", "elementwise fill"},
    {"void at::native::vectorized_elementwise_kernel<2, at::native::(anonymous "
     "namespace)::where_kernel_impl" KYMO_LAMBDA ">(int)",
     "elementwise", "elementwise where"},
    {"void at::native::(anonymous namespace)::CatArrayBatchedCopy_vectorized<at::native::(anonymous "
     "namespace)::OpaqueType<2u>, unsigned "
     "int, 1, "
     "128, 1, 16, 8>(char*)",
     "elementwise", "CatArrayBatchedCopy_vectorized"},
    {"void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned int, 2, 2, -2, true>(int)",
     "elementwise", "indexSelectLargeIndex"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
     "at::native::sum_functor<float, "
     "float, "
     "float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4, 4> >(int)",
     "reduction", "reduce sum"},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, "
     "float>, unsigned int, "
     "float, 4, "
     "4> >(int)",
     "reduction", "reduce mean"},
    {"void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(float*)",
     "reduction", "nll_loss_forward_reduce_cuda_kernel_2d"},
    {"void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, int>(int const*)",
     "reduction", "embedding_backward_feature_kernel"},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, true>(int, float)",
     "normalization", "vectorized_layer_norm_kernel"},
    {"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float, 32u, 1u, 8u, "
     "true>(long)",
     "normalization", "GammaBetaBackwardCUDAKernelTemplate"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::FusedOptimizerTensorListMetadata<4>, "
     "at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float "
     "const*>(int)",
     "optimizer", "multi_tensor fused_adam"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::TensorListMetadata<1>, "
     "at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(int)",
     "optimizer", "multi_tensor binary_op_scalar multiplies"},
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication",
     "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
    {"triton_poi_fused_add_mul_0", "elementwise", "triton_poi_fused_add_mul_0"},
    {"triton_red_fused__log_softmax_3", "softmax", "triton_red_fused__log_softmax_3"},
    {"triton_per_fused_sum_1", "reduction", "triton_per_fused_sum_1"},
    {"memcpy host to device", "copy", "memcpy host to device"},
    {"memset", "memset", "memset"},
    {"my_kernel<float>(int)", "other", "my_kernel"},
};

TEST(Classifier, KnowsTheKernelsOfTraining) {
  const Classifier classifier;
  for (const Known& known : kKnown) EXPECT_EQ(classifier.class_of(known.name), known.kernel_class) << known.name;
}

TEST(Classifier, OfKernelsIsCopyOnlyForCopies) {
  const Classifier classifier;
  for (const char* name : {"copy_kernel", "my_memcpy(int)", "void CatArrayBatchedCopy<float>(int)"})
    EXPECT_NE(classifier.class_of(name), "copy") << name;
  EXPECT_EQ(classifier.class_of(""), "other");
}

TEST(ShortKernelName, IsReadable) {
  for (const Known& known : kKnown) {
    const std::string name = short_kernel_name(known.name);
    EXPECT_LE(name.size(), 60u) << known.name;
    EXPECT_FALSE(name.empty()) << known.name;
    if (known.short_name) {
      EXPECT_EQ(name, known.short_name);
    }
  }
}

TEST(ShortKernelName, KeepsWhatTellsProductsApart) {
  const std::string of_cublas =
      "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_";
  EXPECT_EQ(short_kernel_name(of_cublas + "kernel__5x_cublas"),
            "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_128x128x8_stage3_ffma");
  EXPECT_EQ(short_kernel_name(of_cublas + "split_k_kernel__5x_cublas"),
            "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_128x128x8_split_k");
  EXPECT_EQ(short_kernel_name("sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_"
                              "segment_k_off_kernel__5x_cublas"),
            "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_64x64x64_segment_k_off");
  EXPECT_EQ(short_kernel_name("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128"),
            "cudnn_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128");
}

TEST(ShortKernelName, KeepsBothEndsOfALongName) {
  const std::string name = short_kernel_name("first_" + std::string(80, 'x') + "_last");
  EXPECT_EQ(name.size(), 60u);
  EXPECT_EQ(name.rfind("first_x", 0), 0u);
  EXPECT_THAT(name, HasSubstr("..."));
  EXPECT_THAT(name, testing::EndsWith("x_last"));
}

TEST(ShortKernelName, OfStrangeNamesIsBounded) {
  const std::string many(5000, '<');
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "\xc3\xa9";
  for (const std::string& name :
       {std::string(), many, std::string(5000, '>'), std::string("()"), std::string("a::"), std::string("<>(x)"),
        std::string("void "), std::string("(anonymous namespace)"), accents, std::string("f<\n'\"<script>>(int)")}) {
    EXPECT_LE(short_kernel_name(name).size(), 60u);
  }
  EXPECT_EQ(short_kernel_name("f<\n'\"<script>>(int)"), "f");
  const std::string cut = short_kernel_name(accents);
  EXPECT_EQ(cut.find("\xc3...") == std::string::npos && cut.find("...\xa9") == std::string::npos, true)
      << "a letter was cut in two";
  EXPECT_EQ(short_kernel_name("ns::plain"), "plain");
}

class UserPatterns : public testing::Test {
 protected:
  UserPatterns() : folder_(make_private_folder("kymo-patterns-")), file_(folder_ / "classes.toml") {}
  ~UserPatterns() override { std::filesystem::remove_all(folder_); }

  Classifier read(const std::string& content) {
    write_file(file_, content);
    return Classifier::with_file(file_);
  }
  /// The error message for an invalid file.
  std::string refusal(const std::string& content) {
    try {
      read(content);
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("classes.toml"));
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
  std::filesystem::path file_;
};

TEST_F(UserPatterns, GoBeforeOurs) {
  const Classifier classifier = read(
      "[[pattern]]\ncontains = \"MY_gemm\"\nclass = \"attention\"\n"
      "[[pattern]]\ncontains = \"my_\"\nclass = \"normalization\"\n");
  EXPECT_EQ(classifier.class_of("void my_GEMM<4>(int)"), "attention");
  EXPECT_EQ(classifier.class_of("my_softmax"), "normalization");
  EXPECT_EQ(classifier.class_of("softmax"), "softmax");
  EXPECT_EQ(read("# nothing\n").class_of("softmax"), "softmax");
}

TEST_F(UserPatterns, AreRejectedWithLocationAndRemedy) {
  EXPECT_THAT(refusal("[[pattern]\n"), HasSubstr("classes.toml:1:"));
  const std::string unknown = refusal(
      "[[pattern]]\ncontains = \"a\"\nclass = \"matmul\"\n\n[[ pattern ]]\ncontains = \"b\"\nclass = \"gem\\nm\"\n");
  EXPECT_THAT(unknown, HasSubstr("classes.toml:5: pattern 2:"));
  EXPECT_THAT(unknown, HasSubstr("matmul, softmax"));
  EXPECT_THAT(refusal("[[pattern]]\ncontains = \" \"\nclass = \"matmul\"\n"), HasSubstr("non-empty"));
  EXPECT_THAT(refusal("[[pattern]]\ncontains = 3\nclass = \"matmul\"\n"), HasSubstr("must be a non-empty string"));
  EXPECT_THAT(refusal("[[pattern]]\nclass = \"matmul\"\n"), HasSubstr("key 'contains' is missing"));
  EXPECT_THAT(refusal("[[pattern]]\ncontains = \"a\"\nclas = \"matmul\"\n"), HasSubstr("did you mean 'class'"));
  EXPECT_THAT(refusal("[pattern]\ncontains = \"a\"\nclass = \"matmul\"\n"), HasSubstr("two brackets"));
  EXPECT_THAT(refusal("pattern = [1]\n"), HasSubstr("pattern 1: must be a table"));
  EXPECT_THAT(refusal("[[patterns]]\ncontains = \"a\"\n"), HasSubstr("unknown key 'patterns'"));
  EXPECT_THROW(Classifier::with_file(folder_ / "missing.toml"), Error);
}

}  // namespace
}  // namespace kymo::analysis
