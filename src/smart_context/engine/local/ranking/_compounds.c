/* What `compounds` does for each letter of long words: note which four bytes stand in which block.

   In: blocks of text, as bytes.  Out: for each of so many kinds of four bytes, a bit for each block that has one of that kind.
   Always: no block that has four bytes is left out of their kind; `compounds.py` looks for the rest. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { GRAM = 4, KIND_BITS = 13 };

/* The kind of four bytes, as `compounds.py` tells it. */
static size_t kind_of(const unsigned char *at)
{
    uint32_t gram = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    return (uint32_t)(gram * 2654435761u) >> (32 - KIND_BITS);
}

static PyObject *grams(PyObject *module, PyObject *blocks)
{
    if (!PyList_Check(blocks))
        return PyErr_Format(PyExc_TypeError, "a list of blocks is wanted");
    Py_ssize_t count = PyList_GET_SIZE(blocks), width = (count + 7) / 8;
    for (Py_ssize_t block = 0; block < count; block++)
        if (!PyBytes_Check(PyList_GET_ITEM(blocks, block)))
            return PyErr_Format(PyExc_TypeError, "a block is bytes");
    if (width > PY_SSIZE_T_MAX >> (KIND_BITS + 1))
        return PyErr_NoMemory();
    PyObject *out = PyBytes_FromStringAndSize(NULL, width << KIND_BITS);
    if (!out)
        return NULL;
    unsigned char *bits = (unsigned char *)PyBytes_AS_STRING(out);
    memset(bits, 0, (size_t)width << KIND_BITS);
    for (Py_ssize_t block = 0; block < count; block++) {
        const unsigned char *at = (const unsigned char *)PyBytes_AS_STRING(PyList_GET_ITEM(blocks, block));
        for (Py_ssize_t left = PyBytes_GET_SIZE(PyList_GET_ITEM(blocks, block)); left >= GRAM; left--, at++)
            bits[kind_of(at) * (size_t)width + (size_t)block / 8] |= (unsigned char)(1u << block % 8);
    }
    return out;
}

static PyMethodDef methods[] = {
    {"grams", grams, METH_O, "Which blocks have which kinds of four bytes."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_compounds", "What `compounds` does for each letter.", -1, methods};

PyMODINIT_FUNC PyInit__compounds(void)
{
    return PyModule_Create(&definition);
}
