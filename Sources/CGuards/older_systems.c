/*
 * What the Swift runtime takes from the C library only since its newest versions, so that the library loads where it is older, too.
 */
#include <math.h>

#ifdef __GLIBC__

#pragma GCC visibility push(hidden)
/* Since glibc 2.35 under a new version. The sum of two squares of floats is exact enough in a double, and never overflows there. */
float hypotf(float x, float y) {
    if (isinf(x) || isinf(y)) return INFINITY;
    return (float)sqrt((double)x * x + (double)y * y);
}
#pragma GCC visibility pop
#endif
