/* How this process has its memory from the C library.

   In: nothing.  Out: nothing.
   Always: what `heap.py` does where this could not be compiled; nothing where the C library is not glibc. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static PyObject *share(PyObject *self, PyObject *unused)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
    Py_RETURN_NONE;
}

static PyObject *give_back(PyObject *self, PyObject *unused)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"share", share, METH_NOARGS, "Let all threads share one malloc arena."},
    {"give_back", give_back, METH_NOARGS, "Return freed memory to the system."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_heap", "How this process has its memory.", -1, methods};

PyMODINIT_FUNC PyInit__heap(void)
{
    return PyModule_Create(&module);
}
