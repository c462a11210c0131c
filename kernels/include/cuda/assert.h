// assert.h for NVRTC, which knows printf and assert by itself.
#pragma once
