// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml.so.1 with two GPUs: GPU-gpm supports GPM, GPU-old does not.
#include <nvml.h>

#include <cstring>

namespace {

int opened = 0;
int samples = 0;      // allocated
int next_number = 1;  // of the next sample taken
int gpm = 0;
int old = 0;

nvmlDevice_t handle(int& device) { return reinterpret_cast<nvmlDevice_t>(&device); }
int& number(nvmlGpmSample_t sample) { return *reinterpret_cast<int*>(sample); }

}  // namespace

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  ++opened;
  return NVML_SUCCESS;
}
// Samples that were not freed are an error of the caller.
nvmlReturn_t nvmlShutdown() { return --opened == 0 && samples == 0 ? NVML_SUCCESS : NVML_ERROR_UNKNOWN; }
const char* nvmlErrorString(nvmlReturn_t) { return "unknown device"; }

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  if (std::strcmp(uuid, "GPU-gpm") != 0 && std::strcmp(uuid, "GPU-old") != 0) return NVML_ERROR_NOT_FOUND;
  *device = std::strcmp(uuid, "GPU-gpm") == 0 ? handle(gpm) : handle(old);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t, nvmlUtilization_t* rates) {
  *rates = {.gpu = 75, .memory = 20};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t* support) {
  if (support->version != NVML_GPM_SUPPORT_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  support->isSupportedDevice = device == handle(gpm) ? 1 : 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* sample) {
  ++samples;
  *sample = reinterpret_cast<nvmlGpmSample_t>(new int(0));
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
  --samples;
  delete &number(sample);
  return NVML_SUCCESS;
}

// The fourth sample fails.
nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t, nvmlGpmSample_t sample) {
  number(sample) = next_number++;
  return number(sample) == 4 ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
}

// The value of a metric is its number, times how many samples the second is after the first. NVLink is not supported.
nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* request) {
  if (request->version != NVML_GPM_METRICS_GET_VERSION) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  for (unsigned int i = 0; i < request->numMetrics; ++i) {
    nvmlGpmMetric_t& metric = request->metrics[i];
    metric.value = metric.metricId * (number(request->sample2) - number(request->sample1));
    metric.nvmlReturn =
        metric.metricId >= NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
  }
  return NVML_SUCCESS;
}

}  // extern "C"
