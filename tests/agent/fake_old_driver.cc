// The driver library of a machine whose driver is older than this build's CUDA: enough of libcuda
// for the runtime to see that.
extern "C" {
int cuInit(unsigned int);
int cuDriverGetVersion(int* version);

int cuInit(unsigned int) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 11040;
  return 0;
}
}
