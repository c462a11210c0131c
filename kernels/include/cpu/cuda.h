// The CPU's stand-in: everything it offers is included in front of every source already.
#pragma once
