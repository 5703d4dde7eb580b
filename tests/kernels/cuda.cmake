if(HEADSPLIT_HAS_CUDA)
  headsplit_test(split_plan_test SOURCES freed_memory_test.cc head_choice_test.cc split_plan_test.cc tile_plan_test.cc
    LIBRARIES headsplit_kernels)
  headsplit_test(mla_dense_cuda_test SOURCES fp8_scales_cuda_test.cc mla_dense_cuda_test.cc
    mla_dense_fp8_mma_cuda_test.cc reference_cuda_test.cc gpu_main.cc
    LIBRARIES headsplit_kernels LABELS gpu TIMEOUT 300)
  headsplit_test(mla_sparse_cuda_test SOURCES mla_sparse_cuda_test.cc gpu_main.cc
    LIBRARIES headsplit_kernels LABELS gpu TIMEOUT 300)
  headsplit_test(per_head_cuda_test SOURCES per_head_cuda_test.cc gpu_main.cc
    LIBRARIES headsplit_kernels LABELS gpu TIMEOUT 300)
  headsplit_test(kv_expand_cuda_test SOURCES kv_expand_cuda_test.cc gpu_main.cc
    LIBRARIES headsplit_kernels LABELS gpu TIMEOUT 300)
  headsplit_test(dsa_indexer_cuda_test
    SOURCES dsa_indexer_cuda_test.cc kv_write_cuda_test.cc gpu_main.cc
    LIBRARIES headsplit_kernels LABELS gpu TIMEOUT 300)
endif()
