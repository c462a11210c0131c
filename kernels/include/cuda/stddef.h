// stddef.h for NVRTC, which has no C library.
#include "rc_nvrtc.h"
