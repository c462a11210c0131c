// The CPU stand-in.
#pragma once
#include "../rc_half.h"
