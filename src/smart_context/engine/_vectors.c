/* What `vectors` does for each component of rows: compare its sign with the query's, multiply it by the query's or another row's, and add up.

   In: rows as they lie in the file, which of them, and a query's vector; or the signs of all.
   Out: how many signs are others, a cosine for each row, rough or as Python gives it, or which of them each is most like.
   Always: the same numbers on every machine. Sums are of whole numbers, which are exact in any order, but for the cosines that count: these are added up in the
   order in which arrays are. Where a processor has wider instructions they are taken, for the same operations. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 20, SCALE = 16 }; /* of a row: two numbers of eight bytes, a scale of four, and a byte a component */
enum { TOGETHER = 6, AHEAD = 8, LINE = 64, MOST = 65535 }; /* columns at a time, rows ahead, bytes of a line of memory; components of a row */
enum { SIDE = 4, MOST_LIKE = 64 }; /* rows that one is multiplied by at a time; those that each may be most like */

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDER 1
#else
#define WIDER 0
#endif

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#define ONES(bits) __builtin_popcountll(bits)
#define SOON(address) __builtin_prefetch(address)
#else
#define INLINE static inline
#define SOON(address) ((void)(address))
static int ONES(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return (int)(((bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}
#endif

/* What is done for each component. Each of these is compiled for several processors from the same lines. */

/* So many columns at once, of all rows: sums of several columns stay in registers. */
INLINE void apart_by_columns(const uint64_t *signs, const uint64_t *query, Py_ssize_t rows, int columns, uint16_t *apart)
{
    for (Py_ssize_t row = 0; row < rows; row++) {
        uint64_t sum = 0;
        for (int column = 0; column < columns; column++)
            sum += (uint64_t)ONES(signs[column * rows + row] ^ query[column]);
        apart[row] = (uint16_t)(apart[row] + sum);
    }
}

INLINE void apart_of(const uint64_t *signs, const uint64_t *query, Py_ssize_t rows, Py_ssize_t columns, uint16_t *apart)
{
    memset(apart, 0, (size_t)rows * sizeof *apart);
    for (; columns >= TOGETHER; columns -= TOGETHER, signs += TOGETHER * rows, query += TOGETHER)
        apart_by_columns(signs, query, rows, TOGETHER, apart);
    for (; columns; columns--, signs += rows, query++)
        apart_by_columns(signs, query, rows, 1, apart);
}

INLINE int32_t roughly(const int8_t *row, const int16_t *query, Py_ssize_t size)
{
    int32_t sum = 0;
    for (Py_ssize_t at = 0; at < size; at++)
        sum += (int32_t)(int16_t)row[at] * query[at];
    return sum;
}

/* One row by several others, which lie one after the other. */
INLINE void beside(const int16_t *row, const int16_t *others, Py_ssize_t size, int32_t *products)
{
    int32_t sums[SIDE] = {0};
    for (Py_ssize_t at = 0; at < size; at++)
        for (int other = 0; other < SIDE; other++)
            sums[other] += (int32_t)row[at] * others[other * size + at];
    memcpy(products, sums, sizeof sums);
}

/* The sum of products in the order in which arrays add up: halves of what is long, and eight sums side by side of what is not. */
INLINE double eight(const int8_t *row, const double *query, Py_ssize_t size)
{
    double out = 0.0, e[8];
    Py_ssize_t whole = size - size % 8;
    if (whole) {
        for (int i = 0; i < 8; i++)
            e[i] = (double)row[i] * query[i];
        for (Py_ssize_t at = 8; at < whole; at += 8)
            for (int i = 0; i < 8; i++)
                e[i] += (double)row[at + i] * query[at + i];
        out = ((e[0] + e[1]) + (e[2] + e[3])) + ((e[4] + e[5]) + (e[6] + e[7]));
    }
    for (Py_ssize_t at = whole; at < size; at++)
        out += (double)row[at] * query[at];
    return out;
}

typedef void Apart(const uint64_t *, const uint64_t *, Py_ssize_t, Py_ssize_t, uint16_t *);
typedef int32_t Roughly(const int8_t *, const int16_t *, Py_ssize_t);
typedef void Beside(const int16_t *, const int16_t *, Py_ssize_t, int32_t *);
typedef double Eight(const int8_t *, const double *, Py_ssize_t);

#define FOR(name, target)                                                                                                                                \
    target static void apart_##name(const uint64_t *s, const uint64_t *q, Py_ssize_t r, Py_ssize_t c, uint16_t *a) { apart_of(s, q, r, c, a); }          \
    target static int32_t roughly_##name(const int8_t *r, const int16_t *q, Py_ssize_t n) { return roughly(r, q, n); }                                   \
    target static void beside_##name(const int16_t *r, const int16_t *o, Py_ssize_t n, int32_t *p) { beside(r, o, n, p); }                               \
    target static double eight_##name(const int8_t *r, const double *q, Py_ssize_t n) { return eight(r, q, n); }

FOR(any, )
#if WIDER
FOR(avx2, __attribute__((target("avx2,popcnt"))))
FOR(avx512, __attribute__((target("avx2,popcnt,avx512f,avx512bw,avx512vl,avx512vpopcntdq"))))
#endif

static Apart *apart_by = apart_any;
static Roughly *roughly_by = roughly_any;
static Beside *beside_by = beside_any;
static Eight *eight_by = eight_any;

/* How wide the instructions are, by their name; at most as wide as asked for. */
static const char *widest(const char *most)
{
    const char *found = "any";
    apart_by = apart_any, roughly_by = roughly_any, beside_by = beside_any, eight_by = eight_any;
#if WIDER
    __builtin_cpu_init();
    if (strcmp(most, "any") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) {
        found = "avx2";
        apart_by = apart_avx2, roughly_by = roughly_avx2, beside_by = beside_avx2, eight_by = eight_avx2;
        if (strcmp(most, "avx2") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512vpopcntdq")) {
            found = "avx512";
            apart_by = apart_avx512, roughly_by = roughly_avx512, beside_by = beside_avx512, eight_by = eight_avx512;
        }
    }
#endif
    return found;
}

static double exactly(const int8_t *row, const double *query, Py_ssize_t size)
{
    if (size <= 128)
        return eight_by(row, query, size);
    Py_ssize_t half = size / 2 - size / 2 % 8;
    return exactly(row, query, half) + exactly(row + half, query + half, size - half);
}

/* Rows of a file, and those of them that are asked for. */
typedef struct {
    Py_buffer rows, places, query;
    Py_ssize_t size, width, last, count;
} Asked;

static const char *row_at(const Asked *asked, Py_ssize_t at)
{
    int64_t place;
    memcpy(&place, (const char *)asked->places.buf + at * (Py_ssize_t)sizeof place, sizeof place);
    return place < 0 || place >= asked->last ? NULL : (const char *)asked->rows.buf + place * asked->width;
}

static float scale_of(const char *row)
{
    float scale;
    memcpy(&scale, row + SCALE, sizeof scale);
    return scale;
}

/* Places come in order, but lie apart: a row is asked for before it is needed. */
static void soon(const Asked *asked, Py_ssize_t at)
{
    const char *row = at < asked->count ? row_at(asked, at) : NULL;
    for (Py_ssize_t byte = 0; row && byte < asked->width; byte += LINE)
        SOON(row + byte);
}

static int is_whole(Asked *asked, Py_ssize_t wide)
{
    asked->count = asked->places.len / (Py_ssize_t)sizeof(int64_t);
    asked->width = HEAD + asked->size;
    asked->last = asked->rows.len / asked->width;
    if (wide && ((uintptr_t)asked->query.buf % (size_t)wide || asked->query.len % wide))
        PyErr_SetString(PyExc_ValueError, "numbers of another width");
    else if (asked->size < 1 || asked->size > MOST || asked->places.len % (Py_ssize_t)sizeof(int64_t) || asked->rows.len % asked->width)
        PyErr_SetString(PyExc_ValueError, "numbers of another width");
    else
        return 1;
    return 0;
}

static PyObject *no_such_row(PyObject *out)
{
    Py_XDECREF(out);
    PyErr_SetString(PyExc_ValueError, "there is no such row");
    return NULL;
}

static PyObject *counted(const Py_buffer *signs, const Py_buffer *query, Py_ssize_t rows, Py_ssize_t columns)
{
    Py_ssize_t most = 64 * columns + 1;
    PyObject *apart = PyBytes_FromStringAndSize(NULL, rows * (Py_ssize_t)sizeof(uint16_t));
    PyObject *counts = PyBytes_FromStringAndSize(NULL, most * (Py_ssize_t)sizeof(int64_t));
    if (!apart || !counts) {
        Py_XDECREF(apart);
        Py_XDECREF(counts);
        return NULL;
    }
    uint16_t *each = (uint16_t *)(void *)PyBytes_AS_STRING(apart);
    int64_t *times = (int64_t *)(void *)PyBytes_AS_STRING(counts);
    apart_by(signs->buf, query->buf, rows, columns, each);
    memset(times, 0, (size_t)most * sizeof *times);
    for (Py_ssize_t row = 0; row < rows; row++)
        times[each[row]]++;
    return Py_BuildValue("NN", apart, counts);
}

static PyObject *apart(PyObject *self, PyObject *arguments)
{
    Py_buffer signs, query;
    PyObject *out = NULL;
    if (!PyArg_ParseTuple(arguments, "y*y*", &signs, &query))
        return NULL;
    Py_ssize_t columns = query.len / 8, rows = columns ? signs.len / 8 / columns : 0;
    if (query.len % 8 || !columns || columns > MOST / 64 || rows * columns * 8 != signs.len || (uintptr_t)signs.buf % 8 || (uintptr_t)query.buf % 8)
        PyErr_SetString(PyExc_ValueError, "numbers of another width");
    else
        out = counted(&signs, &query, rows, columns);
    PyBuffer_Release(&signs);
    PyBuffer_Release(&query);
    return out;
}

static PyObject *rough_of(const Asked *asked)
{
    PyObject *out = PyBytes_FromStringAndSize(NULL, asked->count * (Py_ssize_t)sizeof(float));
    for (Py_ssize_t at = 0; out && at < asked->count; at++) {
        const char *row = row_at(asked, at);
        if (!row)
            return no_such_row(out);
        soon(asked, at + AHEAD);
        float cosine = (float)((double)roughly_by((const int8_t *)row + HEAD, asked->query.buf, asked->size) * scale_of(row));
        memcpy(PyBytes_AS_STRING(out) + at * (Py_ssize_t)sizeof cosine, &cosine, sizeof cosine);
    }
    return out;
}

static PyObject *exact_of(const Asked *asked)
{
    PyObject *out = PyBytes_FromStringAndSize(NULL, asked->count * (Py_ssize_t)sizeof(double));
    for (Py_ssize_t at = 0; out && at < asked->count; at++) {
        const char *row = row_at(asked, at);
        if (!row)
            return no_such_row(out);
        double cosine = exactly((const int8_t *)row + HEAD, asked->query.buf, asked->size) * scale_of(row);
        memcpy(PyBytes_AS_STRING(out) + at * (Py_ssize_t)sizeof cosine, &cosine, sizeof cosine);
    }
    return out;
}

static PyObject *asked_of(PyObject *arguments, Py_ssize_t wide, PyObject *(*work)(const Asked *))
{
    Asked asked;
    PyObject *out = NULL;
    if (!PyArg_ParseTuple(arguments, "y*y*y*", &asked.rows, &asked.places, &asked.query))
        return NULL;
    asked.size = asked.query.len / wide;
    if (is_whole(&asked, wide))
        out = work(&asked);
    PyBuffer_Release(&asked.rows);
    PyBuffer_Release(&asked.places);
    PyBuffer_Release(&asked.query);
    return out;
}

/* A query whose products with any row fit into four bytes. */
static PyObject *rough_of_few(const Asked *asked)
{
    const int16_t *query = asked->query.buf;
    int64_t sum = 0;
    for (Py_ssize_t at = 0; at < asked->size; at++)
        sum += abs(query[at]);
    if (sum <= INT32_MAX / 128)
        return rough_of(asked);
    PyErr_SetString(PyExc_ValueError, "a query of numbers that are too large");
    return NULL;
}

static PyObject *rough(PyObject *self, PyObject *arguments)
{
    return asked_of(arguments, sizeof(int16_t), rough_of_few);
}

static PyObject *exact(PyObject *self, PyObject *arguments)
{
    return asked_of(arguments, sizeof(double), exact_of);
}

/* A cosine in whole parts of one, as arrays make it: what is no number, or beyond any, is the least there is. */
static int64_t rounded(double cosine)
{
    const double half = 6755399441055744.0; /* added to what is smaller, it leaves no room for a part, and rounds as `rint` does, without a call */
    if (fabs(cosine) < 1e15)
        return (int64_t)((cosine + half) - half);
    return fabs(cosine) < 9e18 ? (int64_t)rint(cosine) : INT64_MIN;
}

/* Rows by each other. A row for each: its cosines with all, in whole parts of one; itself is as unlike as can be. */
typedef struct {
    Py_ssize_t count, size, room; /* `room`: of rows, so that the last ones too are several */
    int16_t *wide;
    double *scales;
    int64_t *table, *edges;
} Each;

static int widened(const Asked *asked, Each *each)
{
    for (Py_ssize_t at = 0; at < each->count; at++) {
        const char *row = row_at(asked, at);
        if (!row)
            return 0;
        each->scales[at] = scale_of(row);
        for (Py_ssize_t i = 0; i < each->size; i++)
            each->wide[at * each->size + i] = (int8_t)row[HEAD + i];
    }
    return 1;
}

static void compare_each(Each *each, double one)
{
    Py_ssize_t count = each->count, size = each->size;
    int32_t products[SIDE];
    for (Py_ssize_t at = 0; at < count; at++)
        for (Py_ssize_t first = at - at % SIDE; first < count; first += SIDE) {
            beside_by(each->wide + at * size, each->wide + first * size, size, products);
            for (Py_ssize_t other = first > at ? first : at; other < first + SIDE && other < count; other++)
                each->table[at * count + other] = each->table[other * count + at] =
                    other == at ? rounded(-one) : rounded(products[other - first] * (each->scales[at] * each->scales[other]) * one);
        }
}

/* The sum of the largest so many, and the least of these. */
static int64_t largest(const int64_t *cosines, Py_ssize_t count, Py_ssize_t wanted, int64_t *edge)
{
    int64_t best[MOST_LIKE];
    uint64_t sum = 0;
    Py_ssize_t found = 0;
    for (Py_ssize_t at = 0; at < count; at++) {
        if (found == wanted && cosines[at] <= best[found - 1])
            continue;
        Py_ssize_t place = found < wanted ? found++ : found - 1;
        for (; place && best[place - 1] < cosines[at]; place--)
            best[place] = best[place - 1];
        best[place] = cosines[at];
    }
    for (Py_ssize_t at = 0; at < found; at++)
        sum += (uint64_t)best[at];
    *edge = best[found - 1];
    return (int64_t)sum;
}

/* How like each is to those that it is most like, all together; how many these are, with all that equal the last; who they are, and how like each, nothing where it is unlike. */
static PyObject *most_like(const Each *each, Py_ssize_t wanted)
{
    Py_ssize_t count = each->count, all = 0, wide = sizeof(int64_t);
    PyObject *close = PyBytes_FromStringAndSize(NULL, count * wide), *many = PyBytes_FromStringAndSize(NULL, count * wide), *others = NULL, *like = NULL;
    if (!close || !many)
        goto failed;
    int64_t *sums = (int64_t *)(void *)PyBytes_AS_STRING(close), *counts = (int64_t *)(void *)PyBytes_AS_STRING(many);
    for (Py_ssize_t at = 0; at < count; at++) {
        const int64_t *cosines = each->table + at * count;
        int64_t edge, found = 0;
        sums[at] = largest(cosines, count, wanted, &edge);
        for (Py_ssize_t other = 0; other < count; other++)
            found += cosines[other] >= edge;
        all += counts[at] = found;
        each->edges[at] = edge;
    }
    others = PyBytes_FromStringAndSize(NULL, all * wide), like = PyBytes_FromStringAndSize(NULL, all * wide);
    if (!others || !like)
        goto failed;
    int64_t *who = (int64_t *)(void *)PyBytes_AS_STRING(others), *how = (int64_t *)(void *)PyBytes_AS_STRING(like);
    for (Py_ssize_t at = 0; at < count; at++)
        for (Py_ssize_t other = 0, left = counts[at]; left; other++) {
            int64_t cosine = each->table[at * count + other];
            if (cosine >= each->edges[at])
                *who++ = other, *how++ = cosine > 0 ? cosine : 0, left--;
        }
    return Py_BuildValue("NNNN", close, many, others, like);
failed:
    Py_XDECREF(close);
    Py_XDECREF(many);
    Py_XDECREF(others);
    Py_XDECREF(like);
    return NULL;
}

static PyObject *alike_of(const Asked *asked, double one, Py_ssize_t wanted)
{
    Each each = {.count = asked->count, .size = asked->size, .room = asked->count + SIDE};
    PyObject *out = NULL;
    if (wanted < 1 || wanted > MOST_LIKE || wanted > each.count) {
        PyErr_SetString(PyExc_ValueError, "there are not so many rows");
        return NULL;
    }
    if (each.room > PY_SSIZE_T_MAX / (Py_ssize_t)sizeof(int64_t) / (each.room > each.size ? each.room : each.size))
        return PyErr_NoMemory();
    /* Each row is widened once, for all others that it is multiplied by. */
    each.wide = PyMem_Calloc((size_t)(each.room * each.size), sizeof *each.wide);
    each.scales = PyMem_Calloc((size_t)each.room, sizeof *each.scales);
    each.table = PyMem_New(int64_t, each.count * each.count), each.edges = PyMem_New(int64_t, each.count);
    if (!each.wide || !each.scales || !each.table || !each.edges)
        PyErr_NoMemory();
    else if (!widened(asked, &each))
        no_such_row(NULL);
    else {
        compare_each(&each, one);
        out = most_like(&each, wanted);
    }
    PyMem_Free(each.wide);
    PyMem_Free(each.scales);
    PyMem_Free(each.table);
    PyMem_Free(each.edges);
    return out;
}

static PyObject *alike(PyObject *self, PyObject *arguments)
{
    Asked asked;
    double one;
    Py_ssize_t wanted;
    PyObject *out = NULL;
    if (!PyArg_ParseTuple(arguments, "y*y*ndn", &asked.rows, &asked.places, &asked.size, &one, &wanted))
        return NULL;
    if (is_whole(&asked, 0))
        out = alike_of(&asked, one, wanted);
    PyBuffer_Release(&asked.rows);
    PyBuffer_Release(&asked.places);
    return out;
}

static PyObject *limit(PyObject *self, PyObject *arguments)
{
    const char *most;
    return PyArg_ParseTuple(arguments, "s", &most) ? PyUnicode_FromString(widest(most)) : NULL;
}

static PyMethodDef methods[] = {
    {"apart", apart, METH_VARARGS, "How many signs of each row are others than the query's, and how many rows are so many apart."},
    {"rough", rough, METH_VARARGS, "The products of some rows and a query of whole numbers."},
    {"exact", exact, METH_VARARGS, "The cosines of some rows, added up as arrays are."},
    {"alike", alike, METH_VARARGS, "Which of some rows each is most like, and how like, in whole parts of one."},
    {"limit", limit, METH_VARARGS, "Take instructions that are no wider than these; the name of those that are taken."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_vectors", "What `vectors` does for each component.", -1, methods};

PyMODINIT_FUNC PyInit__vectors(void)
{
    widest("");
    return PyModule_Create(&module);
}
