/* What `vectors` does for each component of rows that are worth comparing: multiply it by the query's, and add up.

   In: rows as they lie in the file, which of them, and a query's vector.  Out: a cosine for each, as floats, right to 1e-5.
   Always: they only tell which rows are compared exactly, so that the order in which products are added up changes nothing. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { HEAD = 20, SCALE = 16, LANES = 16 }; /* of a row: two numbers of eight bytes, a scale of four, and a byte a component */

static float product(const signed char *row, const float *query, Py_ssize_t size)
{
    float lanes[LANES] = {0}, sum = 0;
    Py_ssize_t at = 0;
    for (; at + LANES <= size; at += LANES)
        for (int i = 0; i < LANES; i++)
            lanes[i] += (float)row[at + i] * query[at + i];
    for (; at < size; at++)
        sum += (float)row[at] * query[at];
    for (int i = 0; i < LANES; i++)
        sum += lanes[i];
    return sum;
}

static PyObject *cosines_of(const Py_buffer *rows, const Py_buffer *places, const Py_buffer *query)
{
    Py_ssize_t size = query->len / (Py_ssize_t)sizeof(float), width = HEAD + size, count = places->len / (Py_ssize_t)sizeof(int64_t);
    Py_ssize_t last = rows->len / width;
    PyObject *out = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(float));
    if (!out)
        return NULL;
    for (Py_ssize_t at = 0; at < count; at++) {
        int64_t place;
        float scale, cosine;
        memcpy(&place, (const char *)places->buf + at * sizeof place, sizeof place);
        if (place < 0 || place >= last) {
            Py_DECREF(out);
            PyErr_SetString(PyExc_ValueError, "there is no such row");
            return NULL;
        }
        const char *row = (const char *)rows->buf + place * width;
        memcpy(&scale, row + SCALE, sizeof scale);
        cosine = product((const signed char *)row + HEAD, query->buf, size) * scale;
        memcpy(PyBytes_AS_STRING(out) + at * sizeof cosine, &cosine, sizeof cosine);
    }
    return out;
}

static PyObject *cosines(PyObject *self, PyObject *arguments)
{
    Py_buffer rows, places, query;
    PyObject *out = NULL;
    if (!PyArg_ParseTuple(arguments, "y*y*y*", &rows, &places, &query))
        return NULL;
    Py_ssize_t width = HEAD + query.len / (Py_ssize_t)sizeof(float);
    if ((uintptr_t)query.buf % sizeof(float) || query.len % (Py_ssize_t)sizeof(float) || places.len % (Py_ssize_t)sizeof(int64_t) || rows.len % width)
        PyErr_SetString(PyExc_ValueError, "numbers of another width");
    else
        out = cosines_of(&rows, &places, &query);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&places);
    PyBuffer_Release(&query);
    return out;
}

static PyMethodDef methods[] = {
    {"cosines", cosines, METH_VARARGS, "A cosine for each of some rows, right to 1e-5."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_vectors", "What `vectors` does for each component.", -1, methods};

PyMODINIT_FUNC PyInit__vectors(void)
{
    return PyModule_Create(&module);
}
