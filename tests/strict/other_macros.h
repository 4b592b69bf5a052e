/* SPDX-License-Identifier: MIT */
/*
 * The macros of other people's headers, each as a token that no declaration or expression parses with. What this
 * library includes comes before them, as it would not parse either.
 */
#ifdef __cplusplus
#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#endif
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#if defined(__NVCC__)
#include <cuda_runtime.h>
#elif defined(HIP)
#include <hip/hip_runtime.h>
#endif

/* Qt: <QObject> */
#define signals ]
#define slots ]
#define emit ]
#define foreach ]
#define forever ]

/* X11: <X11/X.h>, <X11/Xlib.h>, <X11/Xutil.h> */
#define None ]
#define Always ]
#define Bool ]
#define Status ]
#define Success ]
#define True ]
#define False ]
#define Above ]
#define Below ]
#define Complex ]
#define Convex ]
#define Nonconvex ]
#define Unsorted ]
#define YSorted ]
#define YXSorted ]
#define YXBanded ]
#define CursorShape ]
#define KeyPress ]
#define KeyRelease ]
#define FocusIn ]
#define FocusOut ]
#define Expose ]
#define NoExpose ]
#define Opposite ]
#define CurrentTime ]
#define DirectColor ]
#define TrueColor ]
#define GrayScale ]
#define InputOnly ]
#define InputOutput ]
#define NormalState ]
#define WhenMapped ]
#define ParentRelative ]
#define BadValue ]
#define BadMatch ]
#define BadAlloc ]
#define LineSolid ]
#define TileShape ]
#define AllValues ]
#define XValue ]
#define YValue ]
#define NoValue ]
#define RectangleIn ]
#define RectangleOut ]

/* Windows: <windows.h>, <rpc.h> */
#define near ]
#define far ]
#define NEAR ]
#define FAR ]
#define small ]
#define hyper ]
#define interface ]
#define pascal ]
#define cdecl ]
#define IN ]
#define OUT ]
#define OPTIONAL ]
#define CONST ]
#define VOID ]
#undef TRUE
#define TRUE ]
#undef FALSE
#define FALSE ]
#define STRICT ]
#define ERROR ]
#define NO_ERROR ]
#define DELETE ]
#define INFINITE ]
#define IGNORE ]
#define ABSOLUTE ]
#define RELATIVE ]
#define PLANES ]
#define OPAQUE ]
#define TRANSPARENT ]
#define DIFFERENCE ]
#define PASSTHROUGH ]
#define DOMAIN ]
#define OVERFLOW ]
#define UNDERFLOW ]
#define THIS ]
#define CALLBACK ]
#define WINAPI ]
#define GetMessage ]
#define SendMessage ]
#define CreateWindow ]
#define CreateFile ]
#define CreateEvent ]
#define DeleteFile ]
#define CopyFile ]
#define GetObject ]
#define LoadImage ]
#define DrawText ]
#define GetCurrentTime ]
#define LoadLibrary ]
#define ReportEvent ]
#define Yield ]

/* C: <complex.h>, <termios.h>, newlib's <ctype.h>; GNU's own names of the system */
#undef I
#define I ]
#define complex ]
#undef B0
#define B0 ]
#define B50 ]
#define B75 ]
#define B110 ]
#undef ECHO
#define ECHO ]
#define OPOST ]
#define NOFLSH ]
#define PAGE_SIZE ]
#define _N ]
#define _C ]
#define _U ]
#define _L ]
#define _S ]
#define _P ]
#define _X ]
#define _B ]
#undef unix
#define unix ]
#undef linux
#define linux ]
#undef i386
#define i386 ]

/* Frameworks' and programs' own */
#define YES ]
#define NO ]
#define BOOL ]
#define nil ]
#undef EMPTY
#define EMPTY ]
#define DEBUG ]
#define LOG ]
#define INFO ]
#define WARNING ]
#define FATAL ]
#define ASSERT ]
#define CHECK ]
#define TEST ]
#define FAIL ]
#define PI ]
#define EPSILON ]
#define EXPORT ]
#define API ]
#define PUBLIC ]
#define PRIVATE ]
#define UNUSED ]
#define ALIGN ]
#define INLINE ]

/* Windows, f2c and Arduino */
#define min(a, b) ]
#define max(a, b) ]
#define abs(x) ]

/* <sys/sysmacros.h> */
#define major(device) ]
#define minor(device) ]
#define makedev(major, minor) ]

/* <math.h> and <ctype.h> as macros */
#undef isnan
#define isnan(x) ]
#undef isinf
#define isinf(x) ]
#undef isfinite
#define isfinite(x) ]
#undef signbit
#define signbit(x) ]
#undef isdigit
#define isdigit(c) ]
#undef toupper
#define toupper(c) ]

/* assertions: <assert.h>, old <AssertMacros.h> */
#undef assert
#define assert(holds) ]
#define verify(holds) ]

/* hints, Arduino */
#define likely(holds) ]
#define unlikely(holds) ]
#define F(text) ]
#define round(x) ]
#define sq(x) ]
