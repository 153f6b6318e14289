/* What `years` does for each character: find the years that stand in texts as numbers of their own.

   In: a list of texts.  Out: the years, sorted, each once.
   Always: the answer is that of `years.py`, which does the same where this could not be compiled. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

enum { FIRST = 1900, YEARS = 200, DIGITS = 4 };

static int is_digit(Py_UCS4 c)
{
    return c >= '0' && c <= '9';
}

static int is_alnum(Py_UCS4 c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline void look_at(int kind, const void *data, Py_ssize_t length, unsigned char *found)
{
    for (Py_ssize_t at = 0; at + DIGITS <= length; at++) {
        Py_UCS4 first = PyUnicode_READ(kind, data, at);
        if (first != '1' && first != '2')
            continue;
        Py_ssize_t start = at;
        int year = 0;
        for (; at < length && at < start + DIGITS && is_digit(PyUnicode_READ(kind, data, at)); at++)
            year = year * 10 + (int)(PyUnicode_READ(kind, data, at) - '0');
        int is_apart = (start == 0 || !is_alnum(PyUnicode_READ(kind, data, start - 1))) && (at == length || !is_alnum(PyUnicode_READ(kind, data, at)));
        if (at == start + DIGITS && is_apart && year >= FIRST && year < FIRST + YEARS)
            found[year - FIRST] = 1;
        at--; /* what ended it may begin nothing; a digit before another one does not either */
    }
}

/* A loop for each width of characters: nothing asks for the width at each of them. */
static void look(PyObject *text, unsigned char *found)
{
    const void *data = PyUnicode_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        look_at(PyUnicode_1BYTE_KIND, data, length, found);
        break;
    case PyUnicode_2BYTE_KIND:
        look_at(PyUnicode_2BYTE_KIND, data, length, found);
        break;
    default:
        look_at(PyUnicode_4BYTE_KIND, data, length, found);
    }
}

static PyObject *named_in(PyObject *self, PyObject *texts)
{
    unsigned char found[YEARS] = {0};
    if (!PyList_Check(texts)) {
        PyErr_SetString(PyExc_TypeError, "a list of texts is expected");
        return NULL;
    }
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(texts); at++) {
        PyObject *text = PyList_GET_ITEM(texts, at);
        if (!PyUnicode_Check(text)) {
            PyErr_SetString(PyExc_TypeError, "a text is expected");
            return NULL;
        }
        look(text, found);
    }
    PyObject *named = PyList_New(0);
    for (int at = 0; named && at < YEARS; at++) {
        PyObject *year = found[at] ? PyUnicode_FromFormat("%d", FIRST + at) : NULL;
        if (found[at] && (!year || PyList_Append(named, year) < 0))
            Py_CLEAR(named);
        Py_XDECREF(year);
    }
    return named;
}

static PyMethodDef methods[] = {
    {"named_in", named_in, METH_O, "The years that stand in one of the texts, sorted."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_years", "What `years` does for each character.", -1, methods};

PyMODINIT_FUNC PyInit__years(void)
{
    return PyModule_Create(&module);
}
