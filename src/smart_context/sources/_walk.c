/* What `walk` does for each file of an unchanged folder: look whether it is as it is known.

   In: a folder's descriptor, its path with a slash behind, its entries, what is known of files.  Out: the entries that are not as they are known.
   Always: the answer is that of `walk.py`, which does the same where this could not be compiled. Nothing is opened, and no link is followed. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#ifdef __APPLE__
#define st_mtim st_mtimespec
#endif

enum { SIZE = 2, TIME = 3, KNOWN = 4 }; /* places in what is known of a file */
static const int64_t SECOND = 1000000000;

/* Whether what is known has this number at a place; what is no such number is another. */
static int is_number(PyObject *stamp, Py_ssize_t place, int64_t number)
{
    PyObject *known = PyTuple_GET_ITEM(stamp, place);
    int overflow = 0;
    if (!PyLong_Check(known))
        return 0;
    long long value = PyLong_AsLongLongAndOverflow(known, &overflow);
    return !overflow && value == number;
}

/* The facts of a regular file; 0 for anything else, also where there is nothing. Other threads go on: a disk may be far away. */
static int look_at(int folder, const char *name, struct stat *info)
{
    int told;
    Py_BEGIN_ALLOW_THREADS
    told = fstatat(folder, name, info, AT_SYMLINK_NOFOLLOW);
    Py_END_ALLOW_THREADS
    return told == 0 && S_ISREG(info->st_mode);
}

/* Whether a file is as it is known; -1 with an exception. */
static int is_as_known(int folder, PyObject *name, PyObject *stamp)
{
    PyObject *encoded = NULL;
    Py_ssize_t length;
    const char *text;
    struct stat info;
    if (!PyTuple_Check(stamp) || PyTuple_GET_SIZE(stamp) < KNOWN) {
        PyErr_SetString(PyExc_TypeError, "what is known of a file is expected");
        return -1;
    }
    if (PyUnicode_IS_ASCII(name)) {
        text = PyUnicode_AsUTF8AndSize(name, &length);
    } else {
        encoded = PyUnicode_EncodeFSDefault(name);
        text = encoded ? PyBytes_AS_STRING(encoded) : NULL;
        length = encoded ? PyBytes_GET_SIZE(encoded) : 0;
    }
    if (!text)
        return -1;
    int told = strlen(text) == (size_t)length && look_at(folder, text, &info);
    Py_XDECREF(encoded);
    if (!told || info.st_mtim.tv_sec > INT64_MAX / SECOND - 1 || info.st_mtim.tv_sec < INT64_MIN / SECOND + 1)
        return 0;
    return is_number(stamp, TIME, (int64_t)info.st_mtim.tv_sec * SECOND + info.st_mtim.tv_nsec) && is_number(stamp, SIZE, info.st_size);
}

/* Take an entry that is as it is known from one to the other; 0 if it is not so. */
static int meet(int folder, PyObject *name, PyObject *path, PyObject *known, PyObject *met)
{
    PyObject *stamp = PyDict_GetItemWithError(known, path);
    if (!stamp)
        return PyErr_Occurred() ? -1 : 0;
    Py_INCREF(stamp);
    int told = is_as_known(folder, name, stamp);
    if (told > 0 && (PyDict_SetItem(met, name, stamp) < 0 || PyDict_DelItem(known, path) < 0))
        told = -1;
    Py_DECREF(stamp);
    return told;
}

static int add_unmet(PyObject *left, PyObject *entry, int folder, PyObject *path, PyObject *known, PyObject *met)
{
    PyObject *name = PyObject_GetAttrString(entry, "name");
    if (name && !PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "a name is text");
        Py_CLEAR(name);
    }
    PyObject *whole = name ? PyUnicode_Concat(path, name) : NULL;
    int told = whole ? meet(folder, name, whole, known, met) : -1;
    Py_XDECREF(whole);
    Py_XDECREF(name);
    return told ? told : PyList_Append(left, entry);
}

static PyObject *unmet(PyObject *self, PyObject *arguments)
{
    int folder;
    PyObject *path, *found, *known, *met;
    if (!PyArg_ParseTuple(arguments, "iUOO!O!", &folder, &path, &found, &PyDict_Type, &known, &PyDict_Type, &met))
        return NULL;
    PyObject *entries = PyObject_GetIter(found), *left = entries ? PyList_New(0) : NULL, *entry;
    while (left && (entry = PyIter_Next(entries))) {
        if (add_unmet(left, entry, folder, path, known, met) < 0)
            Py_CLEAR(left);
        Py_DECREF(entry);
    }
    if (PyErr_Occurred())
        Py_CLEAR(left);
    Py_XDECREF(entries);
    return left;
}

static PyMethodDef methods[] = {
    {"unmet", unmet, METH_VARARGS, "The entries of a folder that are not as they are known; the others go from what is known to what was met."},
    {NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_walk", "What `walk` does for each file of an unchanged folder.", -1, methods};

PyMODINIT_FUNC PyInit__walk(void)
{
    return PyModule_Create(&module);
}
