/* Whether a text holds what is no text, which `encoding` takes out.

   In: a string.  Out: whether it has a control character but tab, newline and U+0085, or half of a character.
   Always: the answer is that of `encoding.py`, which does the same where this could not be compiled. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

enum { STRETCH = 256 }; /* characters that are looked at together */

static inline int is_control(uint32_t character)
{
    return ((character < 0x20) & (character != '\t') & (character != '\n')) |
           ((character - 0x7F < 0x21) & (character != 0x85)) | (character - 0xD800 < 0x800);
}

#define DEFINE_HAS_CONTROL(name, type)                             \
    static int name(const type *at, Py_ssize_t length)             \
    {                                                              \
        const type *end = at + length;                             \
        while (at < end) {                                         \
            const type *stop = end - at > STRETCH ? at + STRETCH : end; \
            int found = 0;                                         \
            for (; at < stop; at++)                                \
                found |= is_control(*at);                          \
            if (found)                                             \
                return 1;                                          \
        }                                                          \
        return 0;                                                  \
    }

DEFINE_HAS_CONTROL(in_bytes, Py_UCS1)
DEFINE_HAS_CONTROL(in_pairs, Py_UCS2)
DEFINE_HAS_CONTROL(in_fours, Py_UCS4)

static PyObject *has_control(PyObject *self, PyObject *text)
{
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "a text is a string");
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    const void *data = PyUnicode_DATA(text);
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        return PyBool_FromLong(in_bytes(data, length));
    case PyUnicode_2BYTE_KIND:
        return PyBool_FromLong(in_pairs(data, length));
    default:
        return PyBool_FromLong(in_fours(data, length));
    }
}

static PyMethodDef methods[] = {
    {"has_control", has_control, METH_O, "Whether a text has a control character or half of a character."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_encoding", "Whether a text needs to be cleaned.", -1, methods};

PyMODINIT_FUNC PyInit__encoding(void)
{
    return PyModule_Create(&module);
}
