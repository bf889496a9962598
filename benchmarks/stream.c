/* Algorithm 1 as a plain loop, one example at a time: what stream.py measures askone against.

   Rows X (T x d), labels Y and directions U (T x m) are contiguous; f = -1 / (2 sigma^2), and
   the step is gamma / sqrt(t).  A is theta and A - B / T the mean of theta_1 .. theta_T. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef POLYNOMIAL /* inlined, so any compiler vectorises it; the other build calls the library's */
static inline double exp_(double x) {
    const double magic = 6755399441055744.0; /* 1.5 * 2^52 rounds to an integer in the low bits */
    x = x < -708.0 ? -708.0 : x;
    double k = rint(x * 1.4426950408889634), shifted = k + magic, p = 1.0 / 479001600, power;
    int64_t bits;
    memcpy(&bits, &shifted, 8);
    bits = (bits + 1023) << 52;
    memcpy(&power, &bits, 8);
    x = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    p = p * x + 1.0 / 39916800; p = p * x + 1.0 / 3628800; p = p * x + 1.0 / 362880;
    p = p * x + 1.0 / 40320; p = p * x + 1.0 / 5040; p = p * x + 1.0 / 720; p = p * x + 1.0 / 120;
    p = p * x + 1.0 / 24; p = p * x + 1.0 / 6; p = p * x + 0.5; p = p * x + 1; p = p * x + 1;
    return p * power;
}
#else
#define exp_ exp
#endif

/* k[j] = exp(f |x - z_j|^2); z holds coordinate i of the points at z[i * stride]. */
#define SQ(i) ((x[i] - z[(i) * stride + j]) * (x[i] - z[(i) * stride + j]))
static void sections(long d, long n, long stride, const double *restrict x, const double *restrict z,
                     double f, double *restrict k) {
    if (d == 1) {
        for (long i = 0, j = 0; j < n; j++) k[j] = exp_(f * SQ(i));
        return;
    }
    long i = d % 8 > 0;
    for (long j = 0; j < n; j++) k[j] = i ? SQ(0) : 0;
    for (; i < d % 8; i++)
        for (long j = 0; j < n; j++) k[j] += SQ(i);
    for (; i < d; i += 8) /* eight coordinates a pass: k is loaded and stored an eighth as often */
        for (long j = 0; j < n; j++)
            k[j] += SQ(i) + SQ(i + 1) + SQ(i + 2) + SQ(i + 3) + SQ(i + 4) + SQ(i + 5) + SQ(i + 6) + SQ(i + 7);
    for (long j = 0; j < n; j++) k[j] = exp_(f * k[j]);
}

/* Fixed representers z (d x p): theta = A (m x p), and the average is A - B / T. */
void features(long T, long d, long p, long m, const double *restrict X, const double *restrict Y,
              const double *restrict U, const double *restrict z, double f, double gamma,
              double *restrict A, double *restrict B, double *restrict k) {
    for (long t = 0; t < T; t++) {
        const double *y = Y + t * m, *u = U + t * m;
        double r = 0;
        sections(d, p, p, X + t * d, z, f, k);
        for (long o = 0; o < m; o++) {
            const double *restrict a = A + o * p;
            double value = 0;
            for (long j = 0; j < p; j++) value += a[j] * k[j];
            r += (y[o] - value) * u[o];
        }
        double c = gamma / sqrt(t + 1.0) * (r > 0 ? 1 : -1);
        for (long o = 0; o < m; o++) {
            double *restrict a = A + o * p, *restrict b = B + o * p, v = c * u[o], w = t * v;
            for (long j = 0; j < p; j++) {
                a[j] += v * k[j];
                b[j] += w * k[j];
            }
        }
    }
}

/* Every row joins the support z (d x T) with coefficients A and B (T x m). */
void growing(long T, long d, long m, const double *restrict X, const double *restrict Y,
             const double *restrict U, double f, double gamma, double *restrict z,
             double *restrict A, double *restrict B, double *restrict k) {
    for (long t = 0; t < T; t++) {
        const double *y = Y + t * m, *u = U + t * m;
        double r = 0, value = 0;
        sections(d, t, T, X + t * d, z, f, k);
        if (m == 1)
            for (long j = 0; j < t; j++) value += k[j] * A[j] * u[0];
        else
            for (long j = 0; j < t; j++) {
                const double *restrict a = A + j * m;
                double along = 0;
                for (long o = 0; o < m; o++) along += a[o] * u[o];
                value += k[j] * along;
            }
        for (long o = 0; o < m; o++) r += y[o] * u[o];
        double c = gamma / sqrt(t + 1.0) * (r > value ? 1 : -1);
        for (long i = 0; i < d; i++) z[i * T + t] = X[t * d + i];
        for (long o = 0; o < m; o++) {
            A[t * m + o] = c * u[o];
            B[t * m + o] = t * c * u[o];
        }
    }
}
