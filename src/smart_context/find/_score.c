/* What `score_each` does for each word of each segment: find the words sought among its packed codes, and make its score of them.

   In: packed segments, which of them have all that was typed, and what a query's words are worth.
   Out: the score of each segment, and what it is made of, as doubles, a row a segment: the times of each word, the share of each, then near, found,
        gained and told. None where a segment is not as long as it says.
   Always: the numbers of `score_each`, to the last bit: the same operations in the same order, none of them contracted into another. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { HEADER = 10, WIDTH = 3, SHORT = 2, MASK = 0x7FFFFF, AS_WRITTEN = 0x800000, LOW = 0xFFFF };
enum { TEXT, ALSO, HEAD, KINDS };
enum { NEAR, FOUND, GAINED, TOLD, BESIDE };

/* What a query is made of, in the order in which it is given: columns of whole numbers, then of others. */
enum { CODES, NUMBERS, THERE, STOP, COVERS, IS_TYPED, IS_JOINED, PLACES, COUNTS, WHOLE };
enum { WORTH, HEADS, PAIRS, CLOSE, AMOUNTS, REAL };
enum { WORDS, STANDING, LEAST_RUN, LINK, IS_SENTENCE, HAS_PLACES, COUNTED };
enum { AVERAGE, ALL, MOST, EXPONENT, LISTED, OTHER, EVERY, K1, B, CLOSENESS, RUN, VERBATIM, NEARLY, OTHER_FORM, PROSE, PART, SHARP, GIVEN };

typedef struct {
    long place, number;
} Hit;

typedef struct {
    Py_ssize_t sizes[WHOLE], lengths[REAL];
    long *whole[WHOLE];
    double *real[REAL];
    uint32_t may_be[(LOW + 1) / 32]; /* whether a code that is sought ends in these two bytes: most words are told apart by it */
    double *counted, *sums, *closeness; /* of a segment: how often it has each word in what, and room to add up */
    char *present, *as_typed;
    Hit *hits; /* in its text, of words that have neighbours */
    Py_ssize_t hit_count, hit_room;
} Query;

static uint32_t two_bytes(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8;
}

/* The sum, in the order of `score.summed`. */
static double summed(const double *values, Py_ssize_t size)
{
    if (size > 128) {
        Py_ssize_t half = size / 2 - size / 2 % 8;
        return summed(values, half) + summed(values + half, size - half);
    }
    double out = 0.0;
    Py_ssize_t whole = 0;
    if (size >= 8) {
        double e[8];
        whole = size - size % 8;
        memcpy(e, values, sizeof e);
        for (Py_ssize_t at = 8; at < whole; at++)
            e[at % 8] += values[at];
        out = ((e[0] + e[1]) + (e[2] + e[3])) + ((e[4] + e[5]) + (e[6] + e[7]));
    }
    for (Py_ssize_t at = whole; at < size; at++)
        out += values[at];
    return out;
}

/* The query, read and checked */

static int is_within(const Query *q, int column, long least, long most)
{
    for (Py_ssize_t at = 0; at < q->sizes[column]; at++)
        if (q->whole[column][at] < least || q->whole[column][at] > most)
            return 0;
    return 1;
}

/* Whether nothing that is counted by leads outside of what there is room for. */
static int is_sound(const Query *q)
{
    if (q->sizes[COUNTS] != COUNTED || q->lengths[AMOUNTS] != GIVEN)
        return 0;
    const long *counts = q->whole[COUNTS];
    long words = counts[WORDS], standing = counts[STANDING];
    Py_ssize_t pairs = q->lengths[PAIRS];
    if (words < 0 || words > LOW || standing < 0 || standing > words || q->sizes[CODES] != q->sizes[NUMBERS])
        return 0;
    if (q->lengths[WORTH] != words || q->lengths[HEADS] != 2 * words || q->sizes[IS_TYPED] != words || q->sizes[IS_JOINED] != words)
        return 0;
    if (q->sizes[THERE] < words + q->sizes[STOP] || q->lengths[CLOSE] < 1)
        return 0;
    if (counts[HAS_PLACES] ? q->sizes[PLACES] < standing : pairs && pairs < standing - 1)
        return 0;
    return is_within(q, CODES, 0, MASK) && is_within(q, NUMBERS, 0, 3 * words - 1) && is_within(q, THERE, 0, LOW) &&
           is_within(q, STOP, 0, words - 1) && is_within(q, COVERS, 0, words - 1) && is_within(q, PLACES, -1, pairs);
}

static int read_column(PyObject *from, Query *q, int column)
{
    PyObject *fast = PySequence_Tuple(from); /* a list may change while a number is asked what it is */
    if (!fast)
        return -1;
    Py_ssize_t size = PySequence_Fast_GET_SIZE(fast);
    int is_whole = column < WHOLE, failed = 0;
    void *room = is_whole ? (void *)PyMem_New(long, size + 1) : (void *)PyMem_New(double, size + 1);
    if (is_whole)
        q->whole[column] = room, q->sizes[column] = size;
    else
        q->real[column - WHOLE] = room, q->lengths[column - WHOLE] = size;
    for (Py_ssize_t at = 0; room && !failed && at < size; at++) {
        PyObject *item = PySequence_Fast_GET_ITEM(fast, at);
        if (is_whole)
            ((long *)room)[at] = PyLong_AsLong(item);
        else
            ((double *)room)[at] = PyFloat_AsDouble(item);
        failed = PyErr_Occurred() != NULL;
    }
    Py_DECREF(fast);
    if (!room)
        PyErr_NoMemory();
    return room && !failed ? 0 : -1;
}

static void forget(Query *q)
{
    for (int column = 0; column < WHOLE; column++)
        PyMem_Free(q->whole[column]);
    for (int column = 0; column < REAL; column++)
        PyMem_Free(q->real[column]);
    PyMem_Free(q->counted);
    PyMem_Free(q->sums);
    PyMem_Free(q->closeness);
    PyMem_Free(q->present);
    PyMem_Free(q->as_typed);
    PyMem_Free(q->hits);
    PyMem_Free(q);
}

static Query *query_of(PyObject *columns)
{
    if (!PyTuple_Check(columns) || PyTuple_GET_SIZE(columns) != WHOLE + REAL) {
        PyErr_SetString(PyExc_TypeError, "a query has so many columns");
        return NULL;
    }
    Query *q = PyMem_Calloc(1, sizeof(Query));
    if (!q)
        return (Query *)PyErr_NoMemory();
    for (int column = 0; column < WHOLE + REAL; column++) {
        if (read_column(PyTuple_GET_ITEM(columns, column), q, column) < 0) {
            forget(q);
            return NULL;
        }
    }
    if (!is_sound(q)) {
        forget(q);
        PyErr_SetString(PyExc_ValueError, "the columns of a query do not fit each other");
        return NULL;
    }
    size_t words = q->whole[COUNTS][WORDS], pairs = q->lengths[PAIRS];
    q->counted = PyMem_New(double, KINDS * 2 * words + 1);
    q->sums = PyMem_New(double, words + pairs + 1);
    q->closeness = PyMem_New(double, pairs + 1);
    q->present = PyMem_New(char, q->sizes[THERE] + 1);
    q->as_typed = PyMem_New(char, words + 1);
    if (!q->counted || !q->sums || !q->closeness || !q->present || !q->as_typed) {
        forget(q);
        return (Query *)PyErr_NoMemory();
    }
    for (Py_ssize_t at = 0; at < q->sizes[CODES]; at++) {
        long low = q->whole[CODES][at] & LOW;
        q->may_be[low / 32] |= 1u << low % 32;
    }
    return q;
}

/* A segment */

static int keep_hit(Query *q, long place, long number)
{
    if (q->hit_count == q->hit_room) {
        Py_ssize_t room = q->hit_room ? 2 * q->hit_room : 256;
        Hit *more = PyMem_Resize(q->hits, Hit, room);
        if (!more)
            return -1;
        q->hits = more;
        q->hit_room = room;
    }
    q->hits[q->hit_count++] = (Hit){place, number};
    return 0;
}

/* Count a code that stands somewhere, for each number that it has. */
static int count_code(Query *q, uint32_t code, long place, int kind)
{
    const long *codes = q->whole[CODES], *numbers = q->whole[NUMBERS], columns = 2 * q->whole[COUNTS][WORDS];
    long sought = code & MASK;
    Py_ssize_t first = 0, last = q->sizes[CODES];
    while (first < last) {
        Py_ssize_t middle = (first + last) / 2;
        if (codes[middle] < sought)
            first = middle + 1;
        else
            last = middle;
    }
    for (; first < q->sizes[CODES] && codes[first] == sought; first++) {
        long number = numbers[first];
        if (number >= columns)
            q->as_typed[number - columns] |= kind == HEAD || (code & AS_WRITTEN);
        else
            q->counted[kind * columns + number] += 1.0;
        if (kind == TEXT && number < q->whole[COUNTS][STANDING] && keep_hit(q, place, number) < 0)
            return -1;
    }
    return 0;
}

/* Whether a code is among so many short ones. Without a way out, so that several are compared at once. */
static char has_short(const unsigned char *codes, Py_ssize_t count, uint16_t sought)
{
    uint16_t found = 0, bytes; /* as they lie in memory */
    memcpy(&bytes, (unsigned char[]){sought & 0xFF, sought >> 8}, SHORT);
    for (Py_ssize_t at = 0; at < count; at++) {
        uint16_t code;
        memcpy(&code, codes + SHORT * at, SHORT);
        found |= code == bytes;
    }
    return found != 0;
}

/* Find in a segment what is sought; 0 where it is not as long as it says, -1 without memory. */
static int look_through(Query *q, const unsigned char *data, Py_ssize_t length)
{
    Py_ssize_t words = q->whole[COUNTS][WORDS], ends[KINDS], place = 0, there = q->sizes[THERE];
    if (length < HEADER)
        return 0;
    for (int kind = TEXT; kind < KINDS; kind++)
        ends[kind] = (kind ? ends[kind - 1] : 0) + two_bytes(data + SHORT * (1 + kind));
    Py_ssize_t count = two_bytes(data + SHORT * (1 + KINDS));
    const unsigned char *short_codes = data + HEADER + WIDTH * ends[HEAD];
    if (length != HEADER + WIDTH * ends[HEAD] + SHORT * count)
        return 0;
    memset(q->counted, 0, KINDS * 2 * words * sizeof(double));
    q->hit_count = 0;
    for (Py_ssize_t i = 0; i < there; i++)
        q->present[i] = has_short(short_codes, count, (uint16_t)q->whole[THERE][i]);
    memcpy(q->as_typed, q->present, words);
    for (int kind = TEXT; kind < KINDS; kind++) {
        for (const unsigned char *at = data + HEADER + WIDTH * place; place < ends[kind]; place++, at += WIDTH) {
            uint32_t low = two_bytes(at);
            if (q->may_be[low / 32] >> low % 32 & 1 && count_code(q, low | (uint32_t)at[2] << 16, (long)place, kind) < 0)
                return -1;
        }
    }
    return 1;
}

/* How often it has each word. */
static void fill_times(const Query *q, double *times)
{
    long words = q->whole[COUNTS][WORDS], columns = 2 * words;
    const double *text = q->counted, *also = text + columns, *head = also + columns, *heads = q->real[HEADS];
    double part = q->real[AMOUNTS][PART];
    for (long n = 0; n < words; n++)
        times[n] = (text[n] > 0 ? text[n] : also[n]) + heads[n] * head[n];
    for (Py_ssize_t at = 0; at < q->sizes[STOP]; at++) {
        long n = q->whole[STOP][at];
        double is_there = q->present[words + at] ? 1.0 : 0.0;
        times[n] = times[n] >= is_there ? times[n] : is_there;
    }
    for (long n = 0, m = words; n < words; n++, m++)
        if (!(times[n] > 0))
            times[n] = part * ((text[m] > 0 ? text[m] : also[m]) + heads[m] * head[m]);
}

/* What a word is worth by its form. */
static double form_of(const Query *q, long n)
{
    long columns = 2 * q->whole[COUNTS][WORDS];
    const double *also = q->counted + columns, *head = also + columns, *given = q->real[AMOUNTS];
    if (q->whole[IS_JOINED][n] && !(also[n] + head[n] > 0))
        return 1 - given[OTHER_FORM];
    return q->as_typed[n] || !q->whole[IS_TYPED][n] ? 1.0 : given[OTHER];
}

/* What neighbours of the query that stand within a window are worth. */
static double near_of(Query *q, double room)
{
    const double *close = q->real[CLOSE], *worth = q->real[PAIRS], *given = q->real[AMOUNTS];
    Py_ssize_t pairs = q->lengths[PAIRS], reach = q->lengths[CLOSE] - 1, size = 0;
    if (pairs < 1)
        return 0.0;
    const Hit *hits = q->hits;
    if (q->whole[COUNTS][HAS_PLACES]) {
        for (Py_ssize_t at = 0; at < q->hit_count; at++) {
            long place = q->whole[PLACES][hits[at].number];
            if (place >= 0)
                q->hits[size++] = (Hit){hits[at].place, place}; /* runs were looked for before */
        }
    }
    else
        size = q->hit_count;
    double *closeness = q->closeness, *sums = q->sums;
    memset(closeness, 0, pairs * sizeof(double));
    for (Py_ssize_t ahead = 1, is_inside = 1; is_inside && ahead <= 2 * reach; ahead++) {
        int has_any = 0;
        is_inside = 0;
        for (Py_ssize_t at = 0; at + ahead < size; at++) {
            long apart = hits[at + ahead].place - hits[at].place, step = hits[at + ahead].number - hits[at].number;
            if (apart > reach)
                continue;
            is_inside = 1;
            if (apart > 0 && (step == 1 || step == -1)) {
                if (!has_any)
                    memset(sums, 0, pairs * sizeof(double));
                has_any = 1;
                sums[step == 1 ? hits[at].number : hits[at + ahead].number] += close[apart];
            }
        }
        for (Py_ssize_t pair = 0; has_any && pair < pairs; pair++)
            closeness[pair] += sums[pair];
    }
    for (Py_ssize_t pair = 0; pair < pairs; pair++)
        sums[pair] = given[CLOSENESS] * worth[pair] * (given[K1] + 1) * closeness[pair] / (closeness[pair] + room);
    return summed(sums, pairs);
}

/* The share of the query, by worth, that stands in a segment as one run. */
static double run_of(const Query *q)
{
    const long *counts = q->whole[COUNTS];
    const double *worth = q->real[WORTH], every = q->real[AMOUNTS][EVERY];
    double best = 0.0, sum = 0.0;
    long size = 0;
    if (!counts[IS_SENTENCE])
        return 0.0;
    for (Py_ssize_t at = 0; at < q->hit_count; at++) {
        const Hit *hit = q->hits + at;
        long ahead = at ? hit->place - hit[-1].place : 0;
        if (ahead > 0 && ahead <= counts[LINK] && hit->number - hit[-1].number == 1) {
            size++;
            sum += worth[hit->number];
        }
        else {
            size = 1;
            sum = 0.0 + worth[hit->number];
        }
        if (size >= counts[LEAST_RUN] && sum / every > best)
            best = sum / every;
    }
    return best;
}

static double told_of(const double *given, double size, double telling)
{
    if (!given[LISTED])
        return 1.0;
    double stop = 1 - telling / (size > 1 ? size : 1), share = stop / given[PROSE];
    share = share > 0.0 ? share : 0.0;
    return 1 - given[LISTED] * (1 - (share < 1.0 ? share : 1.0));
}

/* Fill the row of a segment that was looked through; its score. */
static double score_of(Query *q, const unsigned char *data, int has_all, double *row)
{
    long words = q->whole[COUNTS][WORDS];
    const double *given = q->real[AMOUNTS], *worth = q->real[WORTH];
    double *times = row, *shares = row + words, *beside = shares + words, size = two_bytes(data);
    double room = given[K1] * (1 - given[B] + given[B] * size / given[AVERAGE]);
    fill_times(q, times);
    for (long n = 0; n < words; n++)
        shares[n] = worth[n] * (given[K1] + 1) * times[n] / (times[n] + room) * form_of(q, n);
    double gained = has_all ? given[VERBATIM] : given[RUN] * pow(run_of(q), given[NEARLY]), near = near_of(q, room);
    for (long n = 0; n < words; n++)
        q->sums[n] = times[n] > 0 ? worth[n] : 0.0;
    double found = summed(q->sums, words) / given[ALL], told = told_of(given, size, two_bytes(data + SHORT));
    for (Py_ssize_t at = 0; at < q->sizes[COVERS]; at++)
        if (times[q->whole[COVERS][at]] > 0)
            found = 1.0;
    double total = (summed(shares, words) + near) / given[MOST] * pow(found, given[EXPONENT]);
    total = (total < 1.0 ? total : 1.0) * told;
    total += gained * (1 - total);
    for (long n = 0; n < words; n++)
        shares[n] /= given[MOST];
    beside[NEAR] = near / given[MOST];
    beside[FOUND] = found;
    beside[GAINED] = gained;
    beside[TOLD] = told;
    return rint(total * given[SHARP]) / given[SHARP];
}

/* Score the segments of a list into rows; 1 where all could be, 0 where one is not as long as it says. */
static int score_all(Query *q, PyObject *packed, PyObject *has_all, PyObject *totals, double *rows)
{
    Py_ssize_t width = 2 * q->whole[COUNTS][WORDS] + BESIDE, flags = PyList_GET_SIZE(has_all);
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(totals); at++) {
        char *data;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyList_GET_ITEM(packed, at), &data, &length) < 0)
            return -1;
        int done = look_through(q, (unsigned char *)data, length);
        if (done < 0)
            PyErr_NoMemory();
        if (done <= 0)
            return done;
        int is_so = at < flags && PyList_GET_ITEM(has_all, at) == Py_True;
        PyObject *total = PyFloat_FromDouble(score_of(q, (unsigned char *)data, is_so, rows + at * width));
        if (!total)
            return -1;
        PyList_SET_ITEM(totals, at, total);
    }
    return 1;
}

static PyObject *scores(PyObject *self, PyObject *arguments)
{
    PyObject *packed, *has_all, *columns, *totals = NULL, *made = NULL, *out = NULL;
    if (!PyArg_ParseTuple(arguments, "O!O!O", &PyList_Type, &packed, &PyList_Type, &has_all, &columns))
        return NULL;
    Query *q = query_of(columns);
    if (!q)
        return NULL;
    Py_ssize_t size = PyList_GET_SIZE(packed), width = (2 * q->whole[COUNTS][WORDS] + BESIDE) * sizeof(double);
    totals = size > PY_SSIZE_T_MAX / width ? PyErr_NoMemory() : PyList_New(size);
    made = totals ? PyBytes_FromStringAndSize(NULL, size * width) : NULL;
    /* What `bytes` hold begins at a multiple of eight, after a header of 32 bytes. */
    int done = made ? score_all(q, packed, has_all, totals, (double *)(void *)PyBytes_AS_STRING(made)) : -1;
    if (done > 0)
        out = PyTuple_Pack(2, totals, made);
    else if (!done)
        out = Py_NewRef(Py_None);
    Py_XDECREF(totals);
    Py_XDECREF(made);
    forget(q);
    return out;
}

static PyMethodDef methods[] = {
    {"scores", scores, METH_VARARGS, "The score of each segment, and what it is made of; None where one is not as long as it says."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_score", "What `score_each` does for each word.", -1, methods};

PyMODINIT_FUNC PyInit__score(void)
{
    return PyModule_Create(&module);
}
