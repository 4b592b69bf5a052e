# SPDX-License-Identifier: MIT
from fusekit import get_include

print(get_include())
