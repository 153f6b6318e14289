/* How this process has its memory from the C library.

   In: nothing.  Out: nothing.
   Always: what `heap.py` does where this could not be compiled; nothing where the system has no such call. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
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

static PyObject *page_out(PyObject *self, PyObject *args)
{
    unsigned long long start, length;
    if (!PyArg_ParseTuple(args, "KK", &start, &length))
        return NULL;
#ifdef __linux__
    Py_BEGIN_ALLOW_THREADS
    (void)madvise((void *)(uintptr_t)start, (size_t)length, MADV_PAGEOUT);
    Py_END_ALLOW_THREADS
#endif
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"share", share, METH_NOARGS, "Let all threads share one malloc arena."},
    {"give_back", give_back, METH_NOARGS, "Return freed memory to the system."},
    {"page_out", page_out, METH_VARARGS, "Move pages out of memory, to where they can be read again."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_heap", "How this process has its memory.", -1, methods};

PyMODINIT_FUNC PyInit__heap(void)
{
    return PyModule_Create(&module);
}
