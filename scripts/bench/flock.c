/* A flock as fast as we can write it by hand: what scripts/bench/bench.py holds the kernels against.

   The same forces as separation, cohesion and alignment under the REYNOLDS solver, FLY motion, for
   neighbors within one radius, all of them, in any order. It keeps no list of neighbors and no
   proposals, knows no field of view, no ground and no per-agent parameters, and may reorder sums:
   that is what makes it a limit, and not a replacement. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    float reach, strength[3], relaxation_time, max_force, max_speed, mass, dt;
} Settings;

static float inverse_length(float x, float y, float z) {
    float square = x * x + y * y + z * z;
    return square < 1e-12f ? 0.0f : 1.0f / sqrtf(square);
}

static float fading(float distance, float reach) {
    float rest = fmaxf(0.0f, 1.0f - distance / reach);
    return rest * rest;
}

/* Writes p and v after one step; all arrays but those two hold one agent after the other (x, y, z).
   Returns 0, or 1 without memory. */
int flock(int n, const float *position, const float *velocity, const Settings *s, float *position_out,
          float *velocity_out) {
    float low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = position[k];
        for (int i = 1; i < n; i++) {
            low[k] = fminf(low[k], position[3 * i + k]);
            high[k] = fmaxf(high[k], position[3 * i + k]);
        }
    }
    int nx = (int)((high[0] - low[0]) / s->reach) + 3;
    int ny = (int)((high[1] - low[1]) / s->reach) + 3;
    int nz = (int)((high[2] - low[2]) / s->reach) + 3;
    int *start = calloc((size_t)nx * ny * nz + 1, sizeof(int));
    int *cell = malloc(n * sizeof(int)), *order = malloc(n * sizeof(int));
    float *rows = malloc(9 * (size_t)n * sizeof(float));
    if (!start || !cell || !order || !rows) {
        free(start), free(cell), free(order), free(rows);
        return 1;
    }
    float *x = rows, *y = x + n, *z = y + n, *vx = z + n, *vy = vx + n, *vz = vy + n;
    float *hx = vz + n, *hy = hx + n, *hz = hy + n;
    for (int i = 0; i < n; i++) {
        const float *p = position + 3 * i;
        int cx = 1 + (int)((p[0] - low[0]) / s->reach);
        int cy = 1 + (int)((p[1] - low[1]) / s->reach);
        int cz = 1 + (int)((p[2] - low[2]) / s->reach);
        cell[i] = (cz * ny + cy) * nx + cx;
        start[cell[i] + 1]++;
    }
    for (int c = 0; c < nx * ny * nz; c++) start[c + 1] += start[c];
    for (int i = n - 1; i >= 0; i--) order[--start[cell[i] + 1]] = i;
    /* every entry now holds where the cell before it begins */
    memmove(start, start + 1, (size_t)nx * ny * nz * sizeof(int));
    start[nx * ny * nz] = n;
    for (int k = 0; k < n; k++) {
        const float *p = position + 3 * order[k], *v = velocity + 3 * order[k];
        float inverse = inverse_length(v[0], v[1], v[2]);
        x[k] = p[0], y[k] = p[1], z[k] = p[2], vx[k] = v[0], vy[k] = v[1], vz[k] = v[2];
        hx[k] = v[0] * inverse, hy[k] = v[1] * inverse, hz[k] = v[2] * inverse;
    }
    float square = s->reach * s->reach;
#pragma omp parallel for schedule(static, 512)
    for (int me = 0; me < n; me++) {
        float count = 0, ax = 0, ay = 0, az = 0, mx = 0, my = 0, mz = 0, lx = 0, ly = 0, lz = 0;
        float px = x[me], py = y[me], pz = z[me];
        int home = cell[order[me]];
        for (int row = 0; row < 9; row++) {
            int middle = home + ((row / 3 - 1) * ny + row % 3 - 1) * nx;
            for (int k = start[middle - 1]; k < start[middle + 2]; k++) {
                float dx = px - x[k], dy = py - y[k], dz = pz - z[k];
                float d2 = dx * dx + dy * dy + dz * dz;
                if (d2 > square || k == me) continue;
                float d = sqrtf(d2), w = fading(d, s->reach), a = d > 1e-6f ? w / d : 0.0f;
                count += 1;
                ax += dx * a, ay += dy * a, az += dz * a;
                mx -= dx, my -= dy, mz -= dz;
                lx += hx[k] * w, ly += hy[k] * w, lz += hz[k] * w;
            }
        }
        float fx = 0, fy = 0, fz = 0;
        if (count > 0) {
            float a = s->strength[0] * inverse_length(ax, ay, az);
            mx /= count, my /= count, mz /= count;
            float inverse = inverse_length(mx, my, mz);
            float m = s->strength[1] * inverse;
            m *= fading(sqrtf(mx * mx + my * my + mz * mz), s->reach);
            inverse = inverse_length(lx, ly, lz);
            float l = s->strength[2] * inverse, pull = inverse > 0.0f ? 2.0f : 1.0f;
            fx = ax * a + mx * m + lx * l - pull * vx[me];
            fy = ay * a + my * m + ly * l - pull * vy[me];
            fz = az * a + mz * m + lz * l - pull * vz[me];
        }
        float push = 1.0f / s->relaxation_time;
        float force = push * sqrtf(fx * fx + fy * fy + fz * fz);
        push *= force > s->max_force ? s->max_force / force : 1.0f;
        push *= s->dt / s->mass;
        float ux = vx[me] + fx * push, uy = vy[me] + fy * push, uz = vz[me] + fz * push;
        float speed = sqrtf(ux * ux + uy * uy + uz * uz);
        float keep = speed > s->max_speed ? s->max_speed / speed : 1.0f;
        float *p = position_out + 3 * order[me], *v = velocity_out + 3 * order[me];
        v[0] = ux * keep, v[1] = uy * keep, v[2] = uz * keep;
        p[0] = px + v[0] * s->dt, p[1] = py + v[1] * s->dt, p[2] = pz + v[2] * s->dt;
    }
    free(start), free(cell), free(order), free(rows);
    return 0;
}
