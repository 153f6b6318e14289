/* What `collect` does for each line of a section: spaces and breaks become one space.

   In: lines, and how many characters there is room for.  Out: those that are not empty, and the room that is left; None where it does not suffice.
   Always: the answer is that of `collect.py`, which does the same where this could not be compiled, and decides what is cut. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

static inline int is_space(Py_UCS4 character)
{
    if (character > 0x20 && character < 0x80)
        return 0;
    return Py_UNICODE_ISSPACE(character);
}

/* Whether a line stays as it is: one space between words, none at a tab, and neither at an end. */
static inline int is_neat_in(int kind, const void *data, Py_ssize_t length)
{
    Py_UCS4 before = '\t';
    for (Py_ssize_t at = 0; at < length; at++) {
        Py_UCS4 character = PyUnicode_READ(kind, data, at);
        if (is_space(character)) {
            if ((character != ' ' && character != '\t') || before == ' ' || (before == '\t' && (character == ' ' || at == 0)))
                return 0;
        }
        before = character;
    }
    return length == 0 || !(before == ' ' || before == '\t');
}

static int is_neat(PyObject *line)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(line);
    const void *data = PyUnicode_DATA(line);
    switch (PyUnicode_KIND(line)) {
    case PyUnicode_1BYTE_KIND:
        return is_neat_in(PyUnicode_1BYTE_KIND, data, length);
    case PyUnicode_2BYTE_KIND:
        return is_neat_in(PyUnicode_2BYTE_KIND, data, length);
    default:
        return is_neat_in(PyUnicode_4BYTE_KIND, data, length);
    }
}

/* The line with its spaces made one. A tab stays, but at either end. */
static PyObject *neat(PyObject *line)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(line), used = 0, start = 0;
    int kind = PyUnicode_KIND(line), has_space = 0;
    const void *data = PyUnicode_DATA(line);
    Py_UCS4 *to = PyMem_New(Py_UCS4, length + 1);
    if (!to)
        return PyErr_NoMemory();
    for (Py_ssize_t at = 0; at < length; at++) {
        Py_UCS4 character = PyUnicode_READ(kind, data, at);
        if (character != '\t' && is_space(character)) {
            has_space = 1;
            continue;
        }
        if (has_space && used && to[used - 1] != '\t' && character != '\t')
            to[used++] = ' ';
        has_space = 0;
        to[used++] = character;
    }
    while (used > start && to[used - 1] == '\t')
        used--;
    while (start < used && to[start] == '\t')
        start++;
    PyObject *made = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, to + start, used - start);
    PyMem_Free(to);
    return made;
}

static PyObject *taken(PyObject *self, PyObject *arguments)
{
    PyObject *lines;
    Py_ssize_t room;
    if (!PyArg_ParseTuple(arguments, "O!n", &PyList_Type, &lines, &room))
        return NULL;
    PyObject *kept = PyList_New(0);
    for (Py_ssize_t number = 0; kept && number < PyList_GET_SIZE(lines); number++) {
        PyObject *line = PyList_GET_ITEM(lines, number);
        if (!PyUnicode_Check(line)) {
            Py_DECREF(kept);
            return PyErr_Format(PyExc_TypeError, "a line is a string");
        }
        line = is_neat(line) ? Py_NewRef(line) : neat(line);
        if (!line) {
            Py_DECREF(kept);
            return NULL;
        }
        Py_ssize_t length = PyUnicode_GET_LENGTH(line);
        if (length > room) {
            Py_DECREF(line);
            Py_DECREF(kept);
            Py_RETURN_NONE;
        }
        room -= length ? length + 1 : 0;
        if (length && PyList_Append(kept, line) < 0)
            Py_CLEAR(kept);
        Py_DECREF(line);
    }
    return kept ? Py_BuildValue("(Nn)", kept, room) : NULL;
}

static PyMethodDef methods[] = {
    {"taken", taken, METH_VARARGS, "The lines that are not empty, neat, and the room that is left; None where it does not suffice."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_collect", "What `collect` does for each line.", -1, methods};

PyMODINIT_FUNC PyInit__collect(void)
{
    return PyModule_Create(&module);
}
